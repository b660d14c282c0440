import { parseJson } from '../core/parse-json.ts';

export type Id = string | number;

/** JSON-RPC 2.0, section 5.1. */
export const JSON_RPC_FAULTS = { parse: -32700, invalid: -32600, ours: -32000 } as const;

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/** What a text says: a request, a notification, a response, or a batch of these; otherwise the code of the fault. */
export function readJsonRpc(text: string) {
  const value = parseJson(text);
  if (value === undefined) return 'parse';
  const all: unknown[] = Array.isArray(value) ? value : [value];
  if (all.length === 0 || !all.every(isMessage)) return 'invalid';
  const { method, params, result, error } = Array.isArray(value) ? ({} as Message) : (all[0] as Message);
  return {
    /** The ids that expect an answer. */
    ids: all.flatMap(({ method, id }) => (method !== undefined && id !== undefined ? [id as Id] : [])),
    /** The method, unless it is a response or a batch. */
    method,
    /** The protocol version that a stateless request states in its own `_meta`. */
    version: textIn(memberOf(params, '_meta'), VERSION_KEY),
    /** The requests that `notifications/cancelled` names, also in a batch. */
    cancels: all.flatMap(({ method, params }) => {
      const id = method === 'notifications/cancelled' ? idIn(params, 'requestId') : undefined;
      return id === undefined ? [] : [id];
    }),
    /** `params.name`, `params.uri` or `params.taskId`, which a stateless request repeats in a header. */
    name:
      method !== undefined && Object.hasOwn(NAMED_BY, method) ? textIn(params, NAMED_BY[method]) : undefined,
    /** What its responses answer: an id, or undefined for an error that names no request. */
    answers: all.flatMap(({ method, id }) => (method === undefined ? [isId(id) ? id : undefined] : [])),
    /** The protocol version that the result of `initialize` chooses. */
    chosenVersion: textIn(result, 'protocolVersion'),
    /** Whether it is one error. */
    isError: error !== undefined,
  };
}

/** One line of an MCP client, as far as the bridge looks into it. The text itself is passed on unchanged. */
export type JsonRpcText = Exclude<ReturnType<typeof readJsonRpc>, string>;

/** ES2025; its reviver tells what a number looks like, because one beyond 2^53 would be rounded. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): object };
const keepNumber = (_name: string, value: unknown, context?: { readonly source: string }): unknown =>
  typeof value === 'number' && context !== undefined ? rawJSON(context.source) : value;

/** The request that a response is to. Some servers give the number of a request as text, which the official SDKs accept. */
export function requestOf(id: Id, open: ReadonlySet<Id>): Id | undefined {
  if (open.has(id)) return id;
  const number = Number(id);
  return String(number) === id && open.has(number) ? number : undefined;
}

/**
 * A text with only the responses to these requests, under the client's ids, every other number as written; undefined if nothing is left.
 *
 * @param known the client's id by the server's
 */
export function withAnswersTo(known: ReadonlyMap<Id, Id>, text: string): string | undefined {
  const all: unknown = JSON.parse(text);
  const asWritten = [JSON.parse(text, keepNumber)].flat() as object[];
  const left = ([all].flat() as Message[]).flatMap(({ method, id }, index) => {
    const message = asWritten[index];
    if (method !== undefined) return [message];
    const own = isId(id) ? known.get(id) : undefined;
    return own === undefined ? [] : [own === id ? message : { ...message, id: own }];
  });
  if (left.length === 0) return undefined;
  return JSON.stringify(Array.isArray(all) ? left : left[0]);
}

/** The first error of a text that names none of these requests, under each of the ids. */
export function errorsFor(ids: ReadonlySet<Id>, own: ReadonlySet<Id>, text: string): string[] {
  const asWritten = [JSON.parse(text, keepNumber)].flat() as Message[];
  const index = ([JSON.parse(text)].flat() as Message[]).findIndex(
    ({ method, id, error }) =>
      method === undefined && error !== undefined && !(isId(id) && requestOf(id, own) !== undefined),
  );
  if (index === -1) return [];
  return [...ids].map((id) => JSON.stringify({ jsonrpc: '2.0', id, error: asWritten[index]?.error }));
}

/** The requests in a line that is no JSON-RPC, as far as it can be read. */
export function requestsIn(text: string): Id[] {
  return [parseJson(text)].flat().flatMap((value) => {
    const id = textIn(value, 'method') === undefined ? undefined : idIn(value, 'id');
    return id === undefined ? [] : [id];
  });
}

/**
 * The headers of a stateless request, which repeat what its body says (MCP 2026-07-28); none for any other message.
 */
export function headersOfStateless({ method, version, name }: JsonRpcText): Record<string, string> {
  if (method === undefined || version === undefined || !isFieldValue(version) || !isFieldValue(method))
    return {};
  const named = name === undefined ? {} : { 'mcp-name': encodeFieldValue(name) };
  return { 'mcp-protocol-version': version, 'mcp-method': method, ...named };
}

/** Whether a text can be the value of a header as it is. */
export function isFieldValue(text: string): boolean {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text);
}

function encodeFieldValue(text: string): string {
  if (isFieldValue(text) && !/^=\?base64\?.*\?=$/i.test(text)) return text;
  const bytes = new TextEncoder().encode(text);
  return `=?base64?${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))}?=`;
}

interface Message {
  readonly method?: string;
  readonly id?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

function isMessage(value: unknown): value is Message {
  if (typeof value !== 'object' || value === null || memberOf(value, 'jsonrpc') !== '2.0') return false;
  const { method, id } = value as Message;
  if (method !== undefined) return typeof method === 'string' && (id === undefined || isId(id));
  // The id of a response to something unreadable is null, or absent.
  return (isId(id) && 'result' in value) !== 'error' in value;
}

function isId(value: unknown): value is Id {
  return typeof value === 'string' || typeof value === 'number';
}

function memberOf(value: unknown, name: string | undefined): unknown {
  if (typeof value !== 'object' || value === null || name === undefined) return undefined;
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

function textIn(value: unknown, name: string | undefined): string | undefined {
  const member = memberOf(value, name);
  return typeof member === 'string' ? member : undefined;
}

function idIn(value: unknown, name: string): Id | undefined {
  const member = memberOf(value, name);
  return isId(member) ? member : undefined;
}
