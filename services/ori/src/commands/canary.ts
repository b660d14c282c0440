import { hash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { VerificationKey } from '@ori/proof';
import { createVerifier, memoryReplayStore } from '@ori/verifier';
import { publishedKeys } from '../adapters/key-set.ts';
import { listen } from '../adapters/listen.ts';
import { CliError } from '../core/errors.ts';
import { recordOf } from '../text/failure-record.ts';
import { requireSession } from './access.ts';
import { type Context, takeTrace, untilInterrupted } from './context.ts';
import { takeInternId } from './intern-id.ts';
import { requestOwnProof } from './sign-for.ts';

const PATH = '/ori/canary';
/** For one signing and its verification; Prometheus waits a little longer. */
const PATIENCE_MS = 8000;

export interface CanaryOptions {
  readonly port: number;
  readonly host: string;
}

/**
 * Answers each scrape of Prometheus with the outcome of a synthetic call, until interrupted: a proof for the member who is
 * signed in, by the API, verified with the intern's published keys as a daemon would. Throws CliError `usage` if it cannot
 * listen there.
 */
export async function canary(context: Context, intern: string, { host, port }: CanaryOptions): Promise<void> {
  const { base_url: baseUrl } = await requireSession(context);
  const internId = await takeInternId(context, intern);
  let keys: readonly VerificationKey[] = [];
  const verifier = createVerifier({ internId, keys: { current: () => keys }, replay: memoryReplayStore() });
  /** Throws whatever keeps a person's call from being accepted. */
  async function signAndVerify(mine: Context): Promise<void> {
    const body = Buffer.from(JSON.stringify({ canary: randomUUID() }));
    const request = { internId, bodySha256: hash('sha256', body), path: PATH };
    const proof = await requestOwnProof(mine, request, takeTrace(mine));
    keys = (await publishedKeys(baseUrl, internId, mine.interrupted)) ?? [];
    const rawHeaders = [...Object.entries(proof), ['content-type', 'application/json']].flat();
    await verifier.verify({ method: 'POST', target: PATH, rawHeaders, body });
  }
  let running: Promise<string> | undefined;
  const server = createServer((_request, response) => {
    running ??= run(context, signAndVerify).finally(() => {
      running = undefined;
    });
    void running.then((page) =>
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(page),
    );
  });
  await using _listening = await listen(
    server,
    { host, port },
    'Choose another address with --host and --port.',
  );
  context.terminal.note(`Each scrape of ${host}:${port} signs once for ${internId}.`);
  await untilInterrupted(context);
}

/** One synthetic call. @returns its outcome as a metric */
async function run(context: Context, call: (context: Context) => Promise<void>): Promise<string> {
  const late = AbortSignal.timeout(PATIENCE_MS);
  const mine = { ...context, interrupted: AbortSignal.any([context.interrupted, late]) };
  let code = 'ok';
  try {
    await call(mine);
  } catch (error) {
    code = late.aborted ? 'timed_out' : codeOf(error);
    context.terminal.event({ code }, `The synthetic signing failed: ${code}`);
  }
  return `# TYPE ori_canary_up gauge\nori_canary_up ${code === 'ok' ? 1 : 0}\n`;
}

/** Refusals of the verifier have codes of their own. */
function codeOf(error: unknown): string {
  if (!(error instanceof CliError) && error instanceof Error && 'code' in error) return String(error.code);
  return recordOf(error).code;
}
