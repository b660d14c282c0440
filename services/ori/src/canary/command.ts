import { hash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { ProofError } from '@ori/proof';
import { readKeySet } from '../adapters/key-set.ts';
import { listen } from '../adapters/listen.ts';
import { CliError } from '../core/errors.ts';
import { callOf, isSignedBy } from '../core/signed-by.ts';
import { requestOwnProof } from '../delivery/sign.ts';
import { takeTrace, untilInterrupted } from '../session/context.ts';
import { takeInternId } from '../session/intern-id.ts';
import { interruptedBy, type Profile, requireSession } from '../session/profile.ts';
import { recordOf } from '../text/failure-record.ts';

const PATH = '/ori/canary';
/** For one signing and its verification; Prometheus waits a little longer. */
const PATIENCE_MS = 8000;

export interface CanaryOptions {
  readonly port: number;
  readonly host: string;
}

/**
 * Answers each scrape of Prometheus with the outcome of a synthetic call, until interrupted: a proof for the member who is
 * signed in, by the API, verified with the intern's published keys. Throws CliError `usage` if it cannot listen there.
 */
export async function canary(profile: Profile, intern: string, { host, port }: CanaryOptions): Promise<void> {
  const { base_url: baseUrl } = await requireSession(profile);
  const internId = await takeInternId(profile, intern);
  /** Throws whatever keeps a person's call from being accepted. */
  async function signAndVerify(mine: Profile): Promise<void> {
    const body = Buffer.from(JSON.stringify({ canary: randomUUID() }));
    const request = { internId, bodySha256: hash('sha256', body), path: PATH };
    const proof = await requestOwnProof(mine, request, takeTrace(mine));
    const keys = (await readKeySet(baseUrl, internId, mine.interrupted))?.keys ?? [];
    const isSigned = isSignedBy(keys, callOf(request, proof));
    if (isSigned === undefined) throw new ProofError('key_unknown', 'no published key is for its time');
    if (!isSigned) throw new ProofError('signature_invalid', 'no published key made it');
  }
  let running: Promise<string> | undefined;
  const server = createServer((_request, response) => {
    running ??= run(profile, signAndVerify).finally(() => {
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
  profile.terminal.note(`Each scrape of ${host}:${port} signs once for ${internId}.`);
  await untilInterrupted(profile);
}

/** One synthetic call. @returns its outcome as a metric */
async function run(profile: Profile, call: (profile: Profile) => Promise<void>): Promise<string> {
  const late = AbortSignal.timeout(PATIENCE_MS);
  let code = 'ok';
  try {
    await call(interruptedBy(profile, late));
  } catch (error) {
    code = late.aborted ? 'timed_out' : codeOf(error);
    profile.terminal.event({ code }, `The synthetic signing failed: ${code}`);
  }
  return `# TYPE ori_canary_up gauge\nori_canary_up ${code === 'ok' ? 1 : 0}\n`;
}

/** Refusals of the verifier have codes of their own. */
function codeOf(error: unknown): string {
  if (!(error instanceof CliError) && error instanceof Error && 'code' in error) return String(error.code);
  return recordOf(error).code;
}
