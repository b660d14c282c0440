import { writeFile } from 'node:fs/promises';
import { explainSystemError } from '@ori/faces/system-error';
import { z } from 'zod';
import { readBounded } from '../adapters/bounded.ts';
import { type DaemonResponse, daemonPeer } from '../adapters/daemon.ts';
import { CliError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';
import { retryAfterSeconds } from '../core/refusal.ts';
import type { Context } from '../session/context.ts';

/** How many bytes of a refusal are read to find its code before it is printed. */
const REFUSAL_BYTES_MAX = 64 * 1024;
/** The largest answer that is read as a whole, in bytes. */
const JSON_BYTES_MAX = 64 * 1024 * 1024;

const RefusalShape = z.object({
  error: z.object({ code: z.string().regex(/^[a-z0-9_]{1,64}$/), diagnosis: z.unknown().optional() }),
});

/** An answer, read as far as necessary to classify it. */
export interface DaemonAnswer extends DaemonResponse {
  /** The refusal code of a daemon with @ori/verifier. */
  readonly code?: string;
  /** The `diagnosis` of such a daemon, not parsed. */
  readonly diagnosis?: unknown;
  /** Whether, and when, its proof was asked for: its body throws at its end if what arrived cannot be proven. */
  readonly proven?: 'before' | 'at its end';
  /** Why the beginning of a refusal did not arrive. */
  readonly broken?: unknown;
}

/**
 * Reads an answer as far as necessary: nothing of a success, and the beginning of a refusal, which contains its code.
 * `body` still yields the whole body.
 */
export async function readAnswer(response: DaemonResponse): Promise<DaemonAnswer> {
  if (isGood(response)) return response;
  const rest = response.body[Symbol.asyncIterator]();
  const beginning: Buffer[] = [];
  let bytes = 0;
  let broken: unknown;
  try {
    while (bytes <= REFUSAL_BYTES_MAX) {
      const next = await rest.next();
      if (next.done) break;
      beginning.push(next.value);
      bytes += next.value.length;
    }
  } catch (error) {
    broken = error;
  }
  async function* body() {
    yield* beginning;
    if (broken !== undefined) throw broken;
    yield* { [Symbol.asyncIterator]: () => rest };
  }
  return { ...response, body: body(), broken, ...readRefusal(Buffer.concat(beginning)) };
}

export interface AnswerOptions {
  /** File for the body, instead of stdout. */
  readonly output?: string;
  /** Prints status and headers before the body. */
  readonly include?: boolean;
}

/**
 * Prints the answer's body on stdout, or writes it to a file. Throws CliError `output_unwritable`; `daemon_refused` or
 * `daemon_failed` for a status other than 2xx, and the errors of `body` if the rest does not arrive.
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
  if (!isGood(answer)) throw refusalOf(answer);
}

/** The failure that an answer other than 2xx is. */
export function refusalOf({ status, headers, code, traceId }: DaemonAnswer): CliError {
  const facts = { status, code, traceId, retryAfterSeconds: retryAfterSeconds(headers) };
  if (status >= 500) return new CliError('daemon_failed', facts);
  return new CliError('daemon_refused', { ...facts, location: headers.location });
}

/** The body of an answer as text, without a byte order mark. Throws CliError `answer_not_understood` if it is longer than `JSON_BYTES_MAX`. */
export async function textOf(answer: DaemonResponse, origin: URL): Promise<string> {
  return new TextDecoder().decode(await collect(answer, origin, 'it is too long'));
}

/** Status and headers, a line each. */
export function headOf({ status, headers }: Pick<DaemonAnswer, 'status' | 'headers'>): string[] {
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
    const facts = { file, why: explainSystemError(error), isAnswer: true };
    throw new CliError('output_unwritable', facts, { cause: error });
  }
}

async function wrapUp(answer: DaemonAnswer, origin: URL): Promise<Record<string, unknown>> {
  const tooLong = 'it is too long for --json; without it, the answer is streamed';
  const body = await collect(answer, origin, tooLong);
  const { status, headers } = answer;
  const kept = headers['ori-answer'] === 'kept' ? { kept: true } : {};
  return { status, media_type: headers['content-type'] ?? null, ...kept, ...asJson(body) };
}

function collect({ body }: DaemonResponse, origin: URL, why: string): Promise<Buffer> {
  const tooLong = () => new CliError('answer_not_understood', { ...daemonPeer(origin), why });
  return readBounded(body, JSON_BYTES_MAX, tooLong);
}

/**
 * `body` is the value of a JSON body, or the text of any other; bytes that are not text become `body_base64`.
 */
function asJson(body: Buffer): Record<string, unknown> {
  const text = body.toString('utf8');
  if (!Buffer.from(text, 'utf8').equals(body)) return { body_base64: body.toString('base64') };
  return { body: parseJson(text) ?? text };
}

/**
 * The code in `{"error":{"code":"…"}}`; a number, as in the API's envelope, is ignored because it repeats the status.
 */
function readRefusal(body: Buffer): Pick<DaemonAnswer, 'code' | 'diagnosis'> {
  const value = RefusalShape.safeParse(parseJson(body.toString('utf8')));
  return value.success ? value.data.error : {};
}

/** The media type without its parameters. */
export function typeOf({ mediaType }: DaemonResponse): string {
  return mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

export function isEventStream(answer: DaemonResponse): boolean {
  return typeOf(answer) === 'text/event-stream';
}

/** Whether the daemon accepted the call. */
export function isGood({ status }: DaemonResponse): boolean {
  return status >= 200 && status < 300;
}
