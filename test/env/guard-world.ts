import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { type GuardConfig, loadGuardConfig, startGuard } from '@ori/guard';
import type { JwkSet } from '@ori/proof';
import type { Logger } from '@ori/runtime/log';
import { createTestSigner, type TestProofOptions } from '@ori/verifier/testing';
import { freePort } from './ports.ts';
import { shippedServer } from './programs.ts';
import { type RawAnswer, rawClient } from './raw-client.ts';
import type { Room } from './room.ts';
import { serve } from './serve.ts';

/** A request as the daemon behind the guard got it. */
export interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

export interface GuardWorldOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly config?: Partial<GuardConfig>;
  /** The daemon; by default it answers with the verified user. */
  readonly daemon?: RequestListener;
  readonly log?: Logger;
  /** The key set; by default that of `signed` and `proofLines`. */
  readonly jwks?: JwkSet;
}

const INTERN = 'int_guarded';

export const headerOf = ({ rawHeaders }: Pick<Seen, 'rawHeaders'>, name: string): string | undefined => {
  const values = rawHeaders.filter((_, at, all) => at % 2 === 1 && all[at - 1]?.toLowerCase() === name);
  return values.length > 1 ? `${values.length} values` : values[0];
};

export async function readAll(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function listen(handler: RequestListener, stack: AsyncDisposableStack): Promise<string> {
  return stack.use(await serve(createServer({ requireHostHeader: false }, handler))).url;
}

/** A guard in this process in front of a daemon without a verifier, past the seconds after a start in which proofs are refused. */
export async function openGuardWorld(options: GuardWorldOptions = {}) {
  await using stack = new AsyncDisposableStack();
  let ahead = -10_000;
  const now = () => Date.now() + ahead;
  const signer = createTestSigner({ internId: INTERN, now });
  const seen: Seen[] = [];
  const respond: RequestListener =
    options.daemon ?? ((req, res) => void res.end(req.headers['x-ori-verified-user'] ?? 'nobody'));
  const daemonUrl = await listen(async (req, res) => {
    const { method, url, rawHeaders } = req;
    const body = await readAll(req).catch(() => undefined);
    if (body === undefined) return;
    seen.push({ method, url, rawHeaders, body });
    respond(req, res);
  }, stack);
  const keysOrigin = await listen(
    (_req, res) => void res.end(JSON.stringify(options.jwks ?? signer.jwks)),
    stack,
  );
  const internId = options.env?.['GUARD_INTERN_ID'] ?? INTERN;
  const keysUrl = `${keysOrigin}/v1/interns/${internId}/daemon/jwks.json`;
  const environment = { GUARD_INTERN_ID: internId, GUARD_KEYS_URL: keysUrl, GUARD_DAEMON_URL: daemonUrl };
  const env = {
    GUARD_PORT: '0',
    GUARD_OPS_PORT: '0',
    GUARD_LOG_LEVEL: 'silent',
    GUARD_SHUTDOWN_GRACE_MS: '0',
    ...environment,
    ...options.env,
  };
  const guard = await startGuard(
    { ...loadGuardConfig(env), shutdownIdleMs: 0, ...options.config },
    { now, ...(options.log && { log: options.log }) },
  );
  stack.defer(guard.stop);
  ahead = 0;
  const port = Number(new URL(guard.url).port);
  const proofLines = (proof: TestProofOptions) =>
    Object.entries(signer.sign(proof))
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
  const owned = stack.move();
  return {
    guard,
    port,
    keysUrl,
    /** What another guard of the same daemon needs. */
    environment,
    /** The requests that reached the daemon. */
    seen,
    /** The proof headers as lines of a request. */
    proofLines,
    /** A whole signed request, with these lines more. */
    signed({ lines = '', ...proof }: TestProofOptions & { lines?: string }): string {
      const length = Buffer.byteLength(proof.body);
      const head = `POST ${proof.path} HTTP/1.1\r\nHost: daemon.example\r\nContent-Type: application/json\r\n`;
      return `${head}Content-Length: ${length}\r\n${proofLines(proof)}${lines}\r\n${proof.body}`;
    },
    /** Sends exactly these bytes on a connection of their own, and reads one answer. */
    async raw(bytes: string | Uint8Array): Promise<RawAnswer> {
      using client = await rawClient(port);
      client.send(bytes);
      return await client.answer();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export type GuardWorld = Awaited<ReturnType<typeof openGuardWorld>>;

/** Another guard of the world's daemon, as it ships: not started yet. */
export async function guardProcess(
  { environment }: GuardWorld,
  room: Room,
  more: Readonly<Record<string, string>>,
  hear?: (line: string) => void,
) {
  const port = await freePort();
  const ports = { GUARD_PORT: String(port), GUARD_OPS_PORT: String(await freePort()) };
  const guard = await shippedServer(room, 'guard/ori-guard', { ...environment, ...ports, ...more }, hear);
  return { port, guard };
}
