/** The parts of a case: a valid request, and one to be smuggled inside it. */
export interface Parts {
  readonly path: string;
  /** Header lines of a valid request without Host, codings and Connection, each with its line end. */
  readonly head: string;
  readonly body: string;
  /** A complete valid request for another path. */
  readonly hidden: string;
  /** Names and values of the headers that identify the caller. */
  readonly proof: readonly (readonly [name: string, value: string])[];
}

/**
 * `refused`: nothing is accepted. `harmless`: the valid request may be accepted, unchanged and once; the hidden one never is.
 * `refused by the gateway`: nothing is accepted there; a plain Node server accepts it harmlessly.
 */
export type Fate = 'refused' | 'refused by the gateway' | 'harmless';

export interface RawCase {
  readonly name: string;
  readonly fate: Fate;
  readonly bytes: (parts: Parts) => string;
}

const HOST = 'Host: localhost\r\nConnection: close\r\n';
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

/** A valid request with other header lines about its body, and other body bytes. */
function framed(lines: string, bytes: (parts: Parts) => string): RawCase['bytes'] {
  return (parts) => `POST ${parts.path} HTTP/1.1\r\n${HOST}${parts.head}${lines}\r\n${bytes(parts)}`;
}

/** A valid request with one more header line. */
function headed(line: string | ((parts: Parts) => string)): RawCase['bytes'] {
  return (parts) => {
    const { path, head, body } = parts;
    const more = typeof line === 'string' ? line : line(parts);
    return `POST ${path} HTTP/1.1\r\n${HOST}${head}Content-Length: ${body.length}\r\n${more}\r\n\r\n${body}`;
  };
}

/** A valid request with another request line, and without `Host`. */
function lined(lines: (path: string) => string): RawCase['bytes'] {
  return ({ path, head, body }) => `${lines(path)}${head}Content-Length: ${body.length}\r\n\r\n${body}`;
}

const own = ({ body }: Parts) => body;
const chunked = ({ body }: Parts) => `${chunk(body)}0\r\n\r\n`;
const emptyThenHidden = ({ hidden }: Parts) => `0\r\n\r\n${hidden}`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';

const REFUSED: Record<string, RawCase['bytes']> = {
  'Content-Length before Transfer-Encoding': framed(`Content-Length: 400\r\n${CHUNKED}`, emptyThenHidden),
  'two lengths that differ': framed('Content-Length: 0\r\nContent-Length: 400\r\n', ({ hidden }) => hidden),
  'a list of lengths': (parts) =>
    framed(`Content-Length: ${parts.body.length}, ${parts.body.length}\r\n`, own)(parts),
  'a length with a sign': (parts) => framed(`Content-Length: +${parts.body.length}\r\n`, own)(parts),
  'a length beyond 64 bits': framed('Content-Length: 99999999999999999999\r\n', own),
  'Transfer-Encoding twice': framed(CHUNKED.repeat(2), chunked),
  'Transfer-Encoding: identity': framed('Transfer-Encoding: identity\r\n', emptyThenHidden),
  'Transfer-Encoding with a vertical tab': framed('Transfer-Encoding: \u000bchunked\r\n', chunked),
  'Transfer-Encoding before a colon with a space': framed(
    'Transfer-Encoding : chunked\r\nContent-Length: 400\r\n',
    emptyThenHidden,
  ),
  'Transfer-Encoding folded': framed(
    'Transfer-Encoding:\r\n chunked\r\nContent-Length: 400\r\n',
    emptyThenHidden,
  ),
  'a chunk size with a sign': framed(CHUNKED, ({ body }) => `+${chunk(body)}0\r\n\r\n`),
  'a chunk shorter than its bytes': framed(CHUNKED, ({ body }) => `1\r\n${body}\r\n0\r\n\r\n`),
  'a header name with a space before its colon': headed('X-Filler : 1'),
  'a header name with a control character': headed('X-\u0001Filler: 1'),
  'a NUL in a header': headed('X-Filler: a\u0000b'),
  'no Host': lined((path) => `POST ${path} HTTP/1.1\r\nConnection: close\r\n`),
  'a proof given twice': headed(({ proof }) =>
    proof.map(([name, value]) => `${name}: ${value}`).join('\r\n'),
  ),
  'another proof besides': headed(({ proof }) => proof.map(([name]) => `${name}: x`).join('\r\n')),
  'a folded header of the proof': ({ path, proof, body }) =>
    `POST ${path} HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n${proof.map(([name, value]) => `${name}:\r\n ${value}\r\n`).join('')}Content-Length: ${body.length}\r\n\r\n${body}`,
  'a proof under names with underscores': ({ path, proof, body }) =>
    `POST ${path} HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n${proof.map(([name, value]) => `${name.replaceAll('-', '_').replace(/^Authorization$/, 'Author_ization')}: ${value}\r\n`).join('')}Content-Length: ${body.length}\r\n\r\n${body}`,
  'a proof under names with dots': ({ path, proof, body }) =>
    `POST ${path} HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n${proof.map(([name, value]) => `${name.replaceAll('-', '.').replace(/^Authorization$/, 'Author.ization')}: ${value}\r\n`).join('')}Content-Length: ${body.length}\r\n\r\n${body}`,
  'a proof in the trailer': ({ path, proof, body }) =>
    `POST ${path} HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n${CHUNKED}Trailer: ${proof.map(([name]) => name).join(', ')}\r\n\r\n${chunk(body)}0\r\n${proof.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
  'a content encoding': headed('Content-Encoding: gzip'),
  'a method in lower case': lined((path) => `post ${path} HTTP/1.1\r\n${HOST}`),
  'HTTP/0.9': ({ path }) => `GET ${path}\r\n\r\n`,
  'the preface of HTTP/2': () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'a path and a query': lined((path) => `POST ${path}? HTTP/1.1\r\n${HOST}`),
};

const REFUSED_BY_GATEWAY: Record<string, RawCase['bytes']> = {
  'Transfer-Encoding: gzip, chunked': framed('Transfer-Encoding: gzip, chunked\r\n', chunked),
  'a Host twice': headed('Host: other.example'),
  'a Host with a path': lined((path) => `POST ${path} HTTP/1.1\r\nHost: a/b\r\nConnection: close\r\n`),
  'HTTP/2.0 as a version': lined((path) => `POST ${path} HTTP/2.0\r\n${HOST}`),
  'HTTP/1.0 with chunks': (parts) => framed(CHUNKED, chunked)(parts).replace('HTTP/1.1', 'HTTP/1.0'),
};

const HARMLESS: Record<string, RawCase['bytes']> = {
  'nothing strange': headed('X-Filler: 1'),
  chunks: framed(CHUNKED, chunked),
  'chunks with extensions': framed(
    CHUNKED,
    ({ body }) => `${body.length.toString(16)};a=b\r\n${body}\r\n0;c\r\n\r\n`,
  ),
  'a chunk extension with a bare LF': framed(
    CHUNKED,
    ({ body }) => `${body.length.toString(16)};a\n${body}\r\n0\r\n\r\n`,
  ),
  'chunk lines that end in LF': framed(CHUNKED, ({ body }) => `${body.length.toString(16)}\n${body}\n0\n\n`),
  'a trailer': framed(CHUNKED, ({ body }) => `${chunk(body)}0\r\nX-Trailer: 1\r\n\r\n`),
  'Transfer_Encoding with an underscore': (parts) =>
    headed('Transfer_Encoding: chunked')(parts) + parts.hidden,
  'lines that end in LF': (parts) => headed('X-Filler: 1')(parts).replaceAll('\r\n', '\n'),
  'a bare CR in a header': headed('X-Filler: a\rX-Other: b'),
  'a folded header': headed('X-Filler: a\r\n b'),
  'a header without a colon': headed('X-Filler'),
  'a header of Latin-1': headed('X-Filler: \u00e9\u00ff'),
  'an empty line in front': (parts) => `\r\n\r\n${headed('X-Filler: 1')(parts)}`,
  'an HTTP/1.0 request without a Host': lined((path) => `POST ${path} HTTP/1.0\r\nConnection: close\r\n`),
  'an upgrade to HTTP/2': headed(
    'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__',
  ),
  'the proof named as hop by hop': headed(
    ({ proof }) => `Connection: ${proof.map(([name]) => name).join(', ')}`,
  ),
  'another method in a header': headed('X-HTTP-Method-Override: GET\r\nX-HTTP-Method: GET'),
  'another path in a header': headed('X-Original-URL: /api/hidden\r\nX-Rewrite-URL: /api/hidden'),
  'another caller in headers': headed(
    'X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Host: eu.api.example\r\nForwarded: for=192.0.2.1;host=eu.api.example',
  ),
  'an expectation of 100': headed('Expect: 100-continue'),
  'a request after the last one': (parts) => headed('X-Filler: 1')(parts) + parts.hidden,
};

export const RAW_CASES: readonly RawCase[] = [
  ...Object.entries(REFUSED).map(([name, bytes]) => ({ name, fate: 'refused' as const, bytes })),
  ...Object.entries(REFUSED_BY_GATEWAY).map(([name, bytes]) => ({
    name,
    fate: 'refused by the gateway' as const,
    bytes,
  })),
  ...Object.entries(HARMLESS).map(([name, bytes]) => ({ name, fate: 'harmless' as const, bytes })),
];
