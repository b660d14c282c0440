import { join } from 'node:path';
import { readBytes } from '@ori/http/body';
import { sendEnvelope } from '@ori/http/envelope';
import { exchangeOf } from '@ori/http/exchange';
import { openPorts } from '@ori/http/open-ports';
import { createExpressApp, type Express, type Route } from '@ori/http/routes';
import { lockFolder } from '@ori/runtime/folder-lock';
import { instrumentsOf } from '@ori/runtime/instruments';
import type { Logger } from '@ori/runtime/log';
import { createMetrics } from '@ori/runtime/metrics';
import { cosignerKey } from '@ori/tlog/cosignature';
import { createWitnessKeys } from '@ori/tlog/log-keys';
import { renderVkey } from '@ori/tlog/note';
import { makeFolder } from '../disk/durable-file.ts';
import { present } from '../http/failure.ts';
import type { WitnessConfig } from './config.ts';
import { EVIDENCE, openWitness, type Witness } from './witness.ts';

const BODY_BYTES_MAX = 64 * 1024;
const ROUTES = { add: '/add-checkpoint', checkpoint: '/{origin}/checkpoint' } as const;

export interface RunningWitness {
  readonly url: string;
  /** The verifier keys, as in a policy. */
  readonly vkey: string;
  readonly vkeyMlDsa: string;
  stop(): Promise<void>;
}

/** Starts a witness, which checks the logs of its policy independently. */
export async function startWitness(
  config: WitnessConfig,
  { log, now = Date.now }: { readonly log: Logger; readonly now?: () => number },
): Promise<RunningWitness> {
  const { name, policy, folder } = config;
  const keys = createWitnessKeys(Buffer.from(config.key.reveal(), 'base64'));
  const vkey = renderVkey(cosignerKey(name, keys.ed25519));
  const vkeyMlDsa = renderVkey(cosignerKey(name, keys.mlDsa));
  const metrics = createMetrics({ service: 'witness', routes: Object.values(ROUTES) });
  const { counter } = instrumentsOf(metrics.registry);
  const answers = counter(
    'witness_submissions_total',
    'Checkpoints submitted, by response status.',
    'status',
  );
  const misbehaved = counter(
    'witness_misbehaviour_total',
    'Checkpoints of a log that contradict one cosigned here.',
  );
  for (const status of [200, 400, 403, 404, 409, 422]) answers.inc({ status }, 0);

  await using stack = new AsyncDisposableStack();
  stack.defer(() => metrics.close());
  await makeFolder(folder);
  stack.defer(await lockFolder(join(folder, 'witness')));
  const witness = await openWitness({ name, keys: [keys.ed25519, keys.mlDsa], policy, folder, now });
  const app = createWitnessApp(witness, ({ status, isContradiction }) => {
    answers.inc({ status });
    if (!isContradiction) return;
    misbehaved.inc();
    log.error(`a log has signed two contradictory trees; the folder has both, in the file *${EVIDENCE}`);
  });
  const { api, opsUrl, stop } = await openPorts(
    { ...config, trustGateway: false },
    { app, log, metrics, checks: {} },
    stack,
  );
  log.info({ url: api.url, opsUrl, vkey, vkeyMlDsa }, 'listening');
  return { url: api.url, vkey, vkeyMlDsa, stop };
}

function createWitnessApp(
  witness: Witness,
  onAnswer: (answer: Awaited<ReturnType<Witness['addCheckpoint']>>) => void,
): Express {
  const add: Route['handler'] = async (req, res) => {
    const body = await readBytes(req, { bytesMax: BODY_BYTES_MAX, deadline: exchangeOf(req).deadline });
    const answer = await witness.addCheckpoint(body.toString());
    onAnswer(answer);
    const type = answer.status === 409 ? 'text/x.tlog.size' : 'text/plain; charset=utf-8';
    const bytes = Buffer.from(answer.body);
    res.writeHead(answer.status, { 'content-type': type, 'content-length': bytes.length }).end(bytes);
  };
  const checkpoint: Route['handler'] = async (req, res) => {
    const note = await witness.checkpoint(req.params['origin'] ?? '');
    if (note === undefined) return sendEnvelope(res, { status: 404, message: 'Not found.' });
    const bytes = Buffer.from(note);
    res
      .writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'content-length': bytes.length })
      .end(bytes);
  };
  return createExpressApp({
    routes: [
      { template: ROUTES.add, method: 'POST', handler: add },
      { template: ROUTES.checkpoint, method: 'GET', handler: checkpoint },
    ],
    notFound: { status: 404, message: 'Not found.' },
    present,
  });
}
