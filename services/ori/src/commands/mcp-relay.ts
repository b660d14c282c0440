import { daemonPeer } from '../adapters/daemon.ts';
import { CliError } from '../core/errors.ts';
import { isFieldValue, type JsonRpcText, readJsonRpc, requestOf, withAnswersTo } from '../core/json-rpc.ts';
import { type DaemonAnswer, isGood, refusalOf, textOf } from './daemon-answer.ts';

const EVENT_CHARACTERS_MAX = 64 * 1024 * 1024;

/** A message of the client, and what has become of it. */
export interface Exchange {
  readonly line: Buffer;
  readonly message: JsonRpcText;
  /** The requests without an answer. */
  readonly awaited: Set<string | number>;
  /** Ends the request, because the client does not want its answer any more. */
  readonly ended: AbortController;
}

export interface RelayOptions {
  readonly print: (line: string) => Promise<void>;
  readonly note: (text: string) => void;
  /** The version that the result of `initialize` chooses. */
  readonly onVersion: (version: string) => void;
}

/**
 * Writes what the server answers, up to the last answer that is awaited: the end of a stream is no part of an answer, and
 * a server may leave it open.
 */
export async function relay(
  answer: DaemonAnswer,
  origin: URL,
  now: Exchange,
  options: RelayOptions,
): Promise<void> {
  const { awaited } = now;
  if (!isGood(answer)) {
    const text = await textOf(answer, origin);
    const said = readJsonRpc(text);
    if (typeof said === 'string' || said.error === undefined) throw refusalOf(answer);
    // Its id may be null, which no client can match to a request.
    const lines = [...awaited].map((id) => JSON.stringify({ jsonrpc: '2.0', id, error: said.error }));
    awaited.clear();
    for (const line of lines) await options.print(line);
    if (lines.length === 0) throw refusalOf(answer);
    return;
  }
  if (awaited.size === 0) return;
  const type = answer.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'application/json') await relayText(await textOf(answer, origin), origin, now, options);
  else if (type === 'text/event-stream') {
    for await (const data of eventsOf(answer, origin)) {
      await relayText(data, origin, now, options);
      if (awaited.size === 0) return;
    }
  } else throw notUnderstood(origin, `its media type is ${type ?? 'missing'}`);
}

/** Writes one text of the server. A response to anything but a request of this exchange is left out. */
async function relayText(
  text: string,
  origin: URL,
  { message, awaited }: Exchange,
  { print, note, onVersion }: RelayOptions,
): Promise<void> {
  const said = readJsonRpc(text);
  if (typeof said === 'string') throw notUnderstood(origin, 'it is not JSON-RPC');
  const known = new Map<string | number, string | number>();
  for (const id of said.answers) {
    const own = requestOf(id, awaited);
    if (own !== undefined && awaited.delete(own)) known.set(id, own);
  }
  if (known.size < said.answers.length)
    note('Left out a response of the daemon to a request that is not open.');
  const isWhole = said.answers.every((id) => known.get(id) === id);
  const passed = isWhole ? text : withAnswersTo(known, text);
  if (passed === undefined) return;
  const { chosenVersion } = said;
  if (message.method === 'initialize' && chosenVersion !== undefined && isFieldValue(chosenVersion))
    onVersion(chosenVersion);
  // Line breaks of JSON are between its tokens.
  await print(passed.replace(/[\r\n]+/g, ' '));
}

async function* eventsOf({ body }: DaemonAnswer, origin: URL): AsyncIterable<string> {
  const { createParser } = await import('eventsource-parser');
  const waiting: string[] = [];
  const decoder = new TextDecoder();
  const parser = createParser({
    maxBufferSize: EVENT_CHARACTERS_MAX,
    onEvent: ({ event, data }) => {
      if (data !== '' && (event === undefined || event === 'message')) waiting.push(data);
    },
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') throw notUnderstood(origin, 'an event is too long');
    },
  });
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* waiting.splice(0);
  }
}

function notUnderstood(origin: URL, why: string): CliError {
  return new CliError('answer_not_understood', { ...daemonPeer(origin), why });
}
