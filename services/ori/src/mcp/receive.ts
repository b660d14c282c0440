import { CliError } from '../core/errors.ts';
import { type DaemonAnswer, isGood, refusalOf } from '../delivery/daemon-answer.ts';
import { notUnderstood, textsOf } from './answer.ts';
import { isFieldValue, type JsonRpcText, readJsonRpc } from './json-rpc.ts';
import type { Life } from './life.ts';

/** What a request was answered, and the headers of the session that it was sent in. */
export interface Sent {
  readonly answer: DaemonAnswer;
  /** The body of an answer other than 2xx. */
  readonly refusal: string;
  readonly agreed: Readonly<Record<string, string>>;
  readonly origin: URL;
}

/** To whom goes what the server answers. */
export interface Reading {
  readonly write: (line: string) => Promise<void>;
  /** Called for a response to a request that is not open. */
  readonly leftOut: () => void;
  /** Called with the version of the protocol that an answer to `initialize` chooses. */
  readonly chosen: (version: string) => void;
}

/** Writes what the server answers, up to the last response that is waited for: a server may leave a stream open. */
export async function receive(
  { answer, refusal, origin }: Sent,
  life: Life,
  { write, leftOut, chosen }: Reading,
): Promise<void> {
  const { method } = life.said;
  if (!isGood(answer)) {
    const said = readJsonRpc(refusal);
    if (typeof said === 'string' || !said.isError || !life.isWaiting()) throw refusalOf(answer);
    for (const line of life.answered(said, refusal, leftOut)) await write(onOneLine(line));
    return;
  }
  if (!life.isWaiting()) return;
  const give = async (said: JsonRpcText, text: string) => {
    const { chosenVersion } = said;
    if (method === 'initialize' && chosenVersion !== undefined && isFieldValue(chosenVersion))
      chosen(chosenVersion);
    for (const line of life.answered(said, text, leftOut)) await write(onOneLine(line));
  };
  /** Responses of a stream that is proven at its end. What the server tells and asks passes: held back, it would wait for ever. */
  const held: [JsonRpcText, string][] = [];
  let isStrange = false;
  const strange = () => notUnderstood(origin, 'it is not JSON-RPC');
  for await (const text of textsOf(answer, origin)) {
    const said = readJsonRpc(text);
    // Of a stream that is not yet proven it may be somebody else's.
    if (typeof said === 'string' && answer.proven === 'at its end') isStrange = true;
    else if (typeof said === 'string') throw strange();
    else if (answer.proven === 'at its end' && said.answers.length > 0) held.push([said, text]);
    else await give(said, text);
    if (!life.isWaiting()) return;
  }
  if (isStrange) throw strange();
  for (const [said, text] of held) await give(said, text);
  if (!life.isWaiting()) return;
  throw lost(origin, 'it ended without a response', true);
}

/** Line breaks of JSON are between its tokens. */
function onOneLine(json: string): string {
  return json.replace(/[\r\n]+/g, ' ');
}

export function lost({ origin: address }: URL, why: string, isBegun = false): CliError {
  return new CliError('answer_lost', { address, why, isBegun });
}
