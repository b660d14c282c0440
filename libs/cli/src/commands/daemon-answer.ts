import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { daemonPeer } from '../adapters/daemon.ts';
import { CliError } from '../core/errors.ts';
import { parseJson } from '../core/refusal.ts';
import type { Context } from './context.ts';

/** How much of a refusal is read to find its code before it is printed. */
const REFUSAL_BYTES_MAX = 64 * 1024;
/** The largest answer that `--json` wraps up. */
const JSON_BYTES_MAX = 64 * 1024 * 1024;

const RefusalShape = z.object({ error: z.object({ code: z.string().regex(/^[a-z0-9_]{1,64}$/) }) });

/** An answer whose beginning may have been read; `code` is the refusal code in it. */
export interface DaemonAnswer {
  readonly response: IncomingMessage;
  readonly beginning: readonly Buffer[];
  readonly code?: string;
}

/** Reads as much of an answer as judging it takes: nothing of a good one, the code of a refusal. */
export async function readAnswer(response: IncomingMessage): Promise<DaemonAnswer> {
  if (isGood(response)) return { response, beginning: [] };
  const beginning: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.iterator({ destroyOnReturn: false })) {
      beginning.push(chunk);
      bytes += chunk.length;
      if (bytes > REFUSAL_BYTES_MAX) break;
    }
  } catch {
    // It broke off. What came is printed and judged; printing the rest reports the break.
  }
  const code = refusalCode(Buffer.concat(beginning));
  return { response, beginning, ...(code === undefined ? {} : { code }) };
}

/**
 * Prints the answer's body on stdout. Throws CliError `daemon_refused` or `daemon_failed` for a status other than 2xx,
 * and `answer_broke_off` when the connection ended first.
 */
export async function presentAnswer(context: Context, answer: DaemonAnswer, origin: URL): Promise<void> {
  const { response } = answer;
  try {
    if (context.json) context.terminal.printJson(await wrapUp(answer, context, origin));
    else await context.terminal.printBody(bodyOfAnswer(answer, context, origin));
  } finally {
    response.destroy();
  }
  const status = response.statusCode ?? 0;
  if (isGood(response)) return;
  const code = answer.code === undefined ? {} : { code: answer.code };
  if (status >= 500) throw new CliError('daemon_failed', { status, ...code });
  const location = response.headers.location;
  throw new CliError('daemon_refused', { status, ...code, ...(location === undefined ? {} : { location }) });
}

async function* bodyOfAnswer(answer: DaemonAnswer, context: Context, origin: URL): AsyncIterable<Buffer> {
  yield* answer.beginning;
  try {
    if (!answer.response.readableEnded) yield* answer.response;
  } catch (error) {
    if (context.interrupted.aborted) throw new CliError('interrupted', {});
    throw new CliError('answer_broke_off', daemonPeer(origin), { cause: error });
  }
}

async function wrapUp(answer: DaemonAnswer, context: Context, origin: URL): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of bodyOfAnswer(answer, context, origin)) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > JSON_BYTES_MAX) {
      const why = 'it is too long for --json; without it, the answer is streamed';
      throw new CliError('answer_not_understood', { ...daemonPeer(origin), why });
    }
  }
  const body = Buffer.concat(chunks);
  const { statusCode: status, headers } = answer.response;
  return { status, media_type: headers['content-type'] ?? null, ...asJson(body) };
}

/** `body` is the value of a JSON body or the text of another; bytes that are no text come as `body_base64`. */
function asJson(body: Buffer): Record<string, unknown> {
  const text = body.toString('utf8');
  if (!Buffer.from(text, 'utf8').equals(body)) return { body_base64: body.toString('base64') };
  return { body: parseJson(text) ?? text };
}

/** The code in `{"error":{"code":"…"}}`; a number, as in the API's envelope, says no more than the status. */
function refusalCode(body: Buffer): string | undefined {
  const value = RefusalShape.safeParse(parseJson(body.toString('utf8')));
  return value.success ? value.data.error.code : undefined;
}

function isGood({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300;
}
