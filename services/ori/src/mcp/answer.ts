import { daemonPeer } from '../adapters/daemon.ts';
import { CliError } from '../core/errors.ts';
import { type DaemonAnswer, isEventStream, textOf, typeOf } from '../delivery/daemon-answer.ts';

const EVENT_CHARACTERS_MAX = 64 * 1024 * 1024;

/** The texts of a good answer, which is JSON or a stream of events. Throws CliError `answer_not_understood` for any other. */
export async function* textsOf(answer: DaemonAnswer, origin: URL): AsyncIterable<string> {
  const type = typeOf(answer);
  if (type === 'application/json') yield await textOf(answer, origin);
  else if (isEventStream(answer)) yield* eventsOf(answer, origin);
  else throw notUnderstood(origin, `its media type is ${type || 'missing'}`);
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
  let isAfterReturn = false;
  for await (const chunk of body) {
    let text = decoder.decode(chunk, { stream: true });
    if (text === '') continue;
    // A bare CR ends a line too. The parser would wait for what follows it, and after the last event nothing does.
    if (isAfterReturn && text.startsWith('\n')) text = text.slice(1);
    isAfterReturn = text.endsWith('\r');
    parser.feed(text.replace(/\r\n?/g, '\n'));
    yield* waiting.splice(0);
  }
}

export function notUnderstood(origin: URL, why: string): CliError {
  return new CliError('answer_not_understood', { ...daemonPeer(origin), why });
}
