import { type OutgoingHttpHeaders, ServerResponse } from 'node:http';

// What a handler calls the methods of a response of node:http with.

/** The headers of `writeHead`: an object, or a list of names and values, or of pairs. */
export type GivenHeaders = OutgoingHttpHeaders | readonly (string | number)[];

/** A longer text does not fit on Node's stack. */
const LONG_BYTES = 16_384;
const EMPTY = new Uint8Array();

/** The arguments of `write` or `end` as bytes of their own, because the handler may use its buffer again. */
export function bytesOf([chunk, encoding]: unknown[]): Uint8Array | undefined {
  if (typeof chunk === 'string')
    return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
  return chunk instanceof Uint8Array ? Buffer.from(chunk) : undefined;
}

/** Node encodes a text again, and a long one slowly: it gets the bytes that are recorded, unless middleware is in between. */
export function sentAs(chunk: Uint8Array | undefined, args: unknown[], act: unknown): unknown[] {
  const isOfNode = act === ServerResponse.prototype.end || act === ServerResponse.prototype.write;
  const isLong = chunk !== undefined && chunk.byteLength > LONG_BYTES;
  return isOfNode && isLong && typeof args[0] === 'string' ? [chunk, ...args.slice(1)] : args;
}

/** The body, if it is all in this chunk. */
export function wholeOf(
  { 'content-length': length }: Readonly<Record<string, string>>,
  chunk: Uint8Array | undefined,
  isLast: boolean,
): Uint8Array | undefined {
  return isLast
    ? (chunk ?? EMPTY)
    : chunk !== undefined && Number(length) === chunk.byteLength
      ? chunk
      : undefined;
}

/** Names in lower case, repeated values joined: those that the response has, and those given. */
export function headersOf(response: ServerResponse, given: GivenHeaders): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of response.getHeaderNames()) headers[name] = textOf(response.getHeader(name));
  if (Array.isArray(given)) return Object.assign(headers, headersOfList(given));
  for (const name of Object.keys(given))
    headers[name.toLowerCase()] = textOf((given as OutgoingHttpHeaders)[name]);
  return headers;
}

function headersOfList(given: readonly unknown[]): Record<string, string> {
  const list = Array.isArray(given[0]) ? given.flat() : given;
  const headers: Record<string, string> = {};
  for (let index = 0; index < list.length; index += 2) {
    const name = String(list[index]).toLowerCase();
    const value = textOf(list[index + 1]);
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}

const textOf = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value));
