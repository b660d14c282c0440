import { writeFile } from 'node:fs/promises';
import { explainSystemError } from '@ori/terminal/system-error';
import { z } from 'zod';
import { type DaemonResponse, daemonPeer } from '../adapters/daemon.ts';
import { CliError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';
import { retryAfterSeconds } from '../core/refusal.ts';
import type { Context } from './context.ts';

/** How much of a refusal is read to find its code before it is printed. */
const REFUSAL_BYTES_MAX = 64 * 1024;
/** The largest answer that `--json` wraps up. */
const JSON_BYTES_MAX = 64 * 1024 * 1024;

const RefusalShape = z.object({
  error: z.object({ code: z.string().regex(/^[a-z0-9_]{1,64}$/), diagnosis: z.unknown().optional() }),
});

/** An answer as far as judging it took. */
export interface DaemonAnswer extends DaemonResponse {
  /** The refusal code that a daemon with @ori/verifier gives. */
  readonly code?: string;
  /** What such a daemon says of the call as it arrived, unread. */
  readonly diagnosis?: unknown;
}

/**
 * Reads as much of an answer as judging it takes: nothing of a good one, and of a refusal the beginning,
 * where its code is. `body` still has all of it.
 */
export async function readAnswer(response: DaemonResponse): Promise<DaemonAnswer> {
  if (isGood(response)) return response;
  const rest = response.body[Symbol.asyncIterator]();
  const beginning: Buffer[] = [];
  let bytes = 0;
  let broken: { error: unknown } | undefined;
  try {
    while (bytes <= REFUSAL_BYTES_MAX) {
      const next = await rest.next();
      if (next.done) break;
      beginning.push(next.value);
      bytes += next.value.length;
    }
  } catch (error) {
    broken = { error };
  }
  async function* body() {
    yield* beginning;
    if (broken !== undefined) throw broken.error;
    yield* { [Symbol.asyncIterator]: () => rest };
  }
  return { ...response, body: body(), ...readRefusal(Buffer.concat(beginning)) };
}

export interface AnswerOptions {
  /** File for the body, in the place of stdout. */
  readonly output?: string;
  /** Prints status and headers before the body. */
  readonly include?: boolean;
}

/**
 * Prints the answer's body on stdout, or writes it to a file. Throws CliError `output_unwritable`;
 * `daemon_refused` or `daemon_failed` for a status other than 2xx, and what `body` throws when the rest of it does not come.
 */
export async function presentAnswer(
  context: Context,
  answer: DaemonAnswer,
  origin: URL,
  { output, include = false }: AnswerOptions = {},
): Promise<void> {
  try {
    if (context.json) context.terminal.printJson(await wrapUp(answer, origin));
    else {
      if (include) context.terminal.print(...headOf(answer), '');
      if (output === undefined) await context.terminal.printBody(answer.body);
      else await writeOutput(output, answer.body);
    }
  } finally {
    answer.end();
  }
  if (isGood(answer)) return;
  const { status, headers, traceId } = answer;
  const retryAfter = retryAfterSeconds(headers);
  const told = {
    traceId,
    ...(answer.code === undefined ? {} : { code: answer.code }),
    ...(retryAfter === undefined ? {} : { retryAfterSeconds: retryAfter }),
  };
  if (status >= 500) throw new CliError('daemon_failed', { status, ...told });
  const { location } = headers;
  throw new CliError('daemon_refused', { status, ...told, ...(location === undefined ? {} : { location }) });
}

function headOf({ status, headers }: DaemonAnswer): string[] {
  const lines = Object.entries(headers).flatMap(([name, value = '']) =>
    [value].flat().map((one) => `${name}: ${one}`),
  );
  return [`HTTP ${status}`, ...lines];
}

async function writeOutput(file: string, body: AsyncIterable<Buffer>): Promise<void> {
  try {
    await writeFile(file, body);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError('output_unwritable', { file, why: explainSystemError(error) }, { cause: error });
  }
}

async function wrapUp(
  { status, headers, body }: DaemonAnswer,
  origin: URL,
): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > JSON_BYTES_MAX) {
      const why = 'it is too long for --json; without it, the answer is streamed';
      throw new CliError('answer_not_understood', { ...daemonPeer(origin), why });
    }
  }
  return { status, media_type: headers['content-type'] ?? null, ...asJson(Buffer.concat(chunks)) };
}

/**
 * `body` is the value of a JSON body or the text of another; bytes that are no text come as `body_base64`.
 */
function asJson(body: Buffer): Record<string, unknown> {
  const text = body.toString('utf8');
  if (!Buffer.from(text, 'utf8').equals(body)) return { body_base64: body.toString('base64') };
  return { body: parseJson(text) ?? text };
}

/** What is in `{"error":{"code":"…"}}`; a number, as in the API's envelope, says no more than the status. */
function readRefusal(body: Buffer): Pick<DaemonAnswer, 'code' | 'diagnosis'> {
  const value = RefusalShape.safeParse(parseJson(body.toString('utf8')));
  return value.success ? value.data.error : {};
}

/** Whether the daemon took the call. */
export function isGood({ status }: DaemonResponse): boolean {
  return status >= 200 && status < 300;
}
