import { errorsFor, type Id, type JsonRpcText, requestOf, withAnswersTo } from './json-rpc.ts';

/**
 * What becomes of one message of an MCP client. Each event decides what the client is written, whether the daemon is asked, and
 * when the message gives up its place among those that wait for answers:
 *
 * | Event       | Written                                                       | Asked              | Place      |
 * |-------------|---------------------------------------------------------------|--------------------|------------|
 * | `sent`      | nothing                                                       | nothing            | taken      |
 * | `answered`  | what the server says, but only responses to what waits;       | nothing            | given up   |
 * |             | an error that names no request goes to each request that waits |                    | at the last |
 * | `cancelled` | nothing any more                                              | nothing any more   | given up   |
 * | `lost`      | an error for each request that waits                          | first, see `deliver` | given up |
 *
 * A message without a request expects nothing and is written nothing. A cancellation is passed on if what it names was sent.
 */
export function createLife(line: Buffer, said: JsonRpcText) {
  const own: ReadonlySet<Id> = new Set(said.ids);
  const waiting = new Set(said.ids);
  const ended = new AbortController();
  let isSent = false;
  return {
    line,
    said,
    /** Aborted when nothing that it could still bring is wanted: its request ends, and the daemon is not asked. */
    ended: ended.signal,
    isWaiting: () => waiting.size > 0,
    isSent: () => isSent,
    sent(): void {
      isSent = true;
    },
    /**
     * The lines that a text of the server becomes.
     *
     * @param leftOut is told of responses to what does not wait
     */
    answered(answer: JsonRpcText, text: string, leftOut: () => void): string[] {
      if (ended.signal.aborted) return [];
      const known = new Map<Id, Id>();
      for (const id of answer.answers) {
        const request = id === undefined ? undefined : requestOf(id, waiting);
        if (id !== undefined && request !== undefined && waiting.delete(request)) known.set(id, request);
      }
      if (answer.answers.every((id) => id !== undefined && known.get(id) === id)) return [text];
      const errors = errorsFor(waiting, own, text);
      if (errors.length > 0) waiting.clear();
      else if (known.size < answer.answers.length) leftOut();
      return [withAnswersTo(known, text) ?? [], errors].flat();
    },
    /** Whether the request waited. */
    cancelled(id: Id): boolean {
      const request = requestOf(id, waiting);
      if (request === undefined) return false;
      waiting.delete(request);
      if (waiting.size === 0) ended.abort();
      return true;
    },
    /** The requests to tell that nothing comes. */
    lost(): Id[] {
      const ids = [...waiting];
      waiting.clear();
      return ids;
    },
    /** Nobody waits for what it brings. */
    end(): void {
      waiting.clear();
      ended.abort();
    },
  };
}

export type Life = ReturnType<typeof createLife>;
