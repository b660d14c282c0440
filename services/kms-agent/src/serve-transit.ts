import { createServer, type IncomingMessage, type Server } from 'node:http';
import { BusyError } from '@ori/runtime/busy-error';
import { createFairSemaphore } from '@ori/runtime/fair-semaphore';
import type { Logger } from '@ori/runtime/log';
import { KmsError } from '@ori/sealing/key-wrapper';
import { AGENT_PATH } from '@ori/sealing/kms-address';
import { z } from 'zod';

const BODY_BYTES_MAX = 16 * 1024;
const KEK_BYTES = 32;
/** Callers give up after five seconds. */
const DEADLINE_MS = 4500;
const WAITING_MAX = 32;

/** A key that wraps KEKs. The signal aborts when the result is no longer needed. */
export interface AgentKey {
  /** @throws KmsError */
  wrap(kek: Uint8Array, signal: AbortSignal): Promise<string>;
  /** The caller must wipe the bytes. @throws KmsError */
  unwrap(wrapped: string, signal: AbortSignal): Promise<Buffer>;
}

export type AgentLog = Pick<Logger, 'info' | 'error'>;

const toWrap = z.strictObject({ plaintext: z.base64().transform((text) => Buffer.from(text, 'base64')) });
const toUnwrap = z.strictObject({ ciphertext: z.string().min(1).max(4096) });

type Operation = (body: unknown, signal: AbortSignal) => Promise<object>;

/**
 * The two calls of a transit engine that wrap and unwrap a KEK, and nothing else. It makes one call at a time, because a
 * token may allow one session; each is answered within five seconds.
 */
export function serveTransit(key: AgentKey, log: AgentLog, deadlineMs = DEADLINE_MS): Server {
  const turns = createFairSemaphore({
    budget: 'work',
    permits: 1,
    waitingPerKeyMax: WAITING_MAX,
    waitingMax: WAITING_MAX,
  });
  const inTurn = <T>(signal: AbortSignal, work: () => Promise<T>) => turns('', { signal }, work);
  const operations: Readonly<Record<string, Operation>> = {
    async encrypt(body, signal) {
      const { plaintext } = toWrap.parse(body);
      try {
        if (plaintext.length !== KEK_BYTES) throw new KmsError('refused', 'a KEK is 32 bytes');
        return { ciphertext: await inTurn(signal, () => key.wrap(plaintext, signal)) };
      } finally {
        plaintext.fill(0);
      }
    },
    async decrypt(body, signal) {
      const { ciphertext } = toUnwrap.parse(body);
      const plaintext = await inTurn(signal, () => key.unwrap(ciphertext, signal));
      try {
        if (plaintext.length !== KEK_BYTES) throw new KmsError('refused', 'a KEK is 32 bytes');
        return { plaintext: plaintext.toString('base64') };
      } finally {
        plaintext.fill(0);
      }
    },
  };
  const answer = async (
    request: IncomingMessage,
    signal: AbortSignal,
  ): Promise<{ status: number; body: object }> => {
    const name = Object.keys(operations).find((name) => request.url === AGENT_PATH.replace('keys', name));
    const operation = name === undefined ? undefined : operations[name];
    if (operation === undefined || request.method !== 'POST') return { status: 404, body: { errors: [] } };
    try {
      const data = await until(signal, operation(JSON.parse(await until(signal, bodyOf(request))), signal));
      log.info({ operation: name }, 'answered');
      return { status: 200, body: { data } };
    } catch (err) {
      const { status, why } = statusOf(err);
      log.error({ operation: name, why }, 'refused');
      return { status, body: { errors: [why] } };
    }
  };
  return createServer((request, response) => {
    const gone = new AbortController();
    response.once('close', () => gone.abort(new KmsError('unavailable', 'the caller disconnected')));
    const timer = setTimeout(
      () => gone.abort(new KmsError('unavailable', 'the key did not answer in time')),
      deadlineMs,
    );
    void answer(request, gone.signal).then(({ status, body }) => {
      response.writeHead(status, { 'Content-Type': 'application/json', Connection: 'close' });
      response.end(JSON.stringify(body));
      clearTimeout(timer);
    });
  }).setTimeout(10_000);
}

/** The result of the work, or a rejection with the signal's reason when it aborts. */
async function until<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    // Without this, a failure after the deadline would end the process.
    work.catch(() => {});
  }
}

/** The status and message for an error; neither quotes the input. */
function statusOf(error: unknown): { status: number; why: string } {
  if (error instanceof KmsError) return { status: error.code === 'refused' ? 400 : 503, why: error.message };
  if (error instanceof BusyError) return { status: 503, why: 'too many calls wait for the key' };
  if (error instanceof z.ZodError || error instanceof SyntaxError)
    return { status: 400, why: 'malformed body' };
  return { status: 500, why: 'internal error' };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new KmsError('refused', 'the body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
