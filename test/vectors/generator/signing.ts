import {
  CLAIM,
  type Claim,
  INTERN_KEY,
  inputV1,
  inputV2,
  namedNonce,
  proofHeaders,
  TIMESTAMP,
} from './proof.ts';

/** Requests to a signer and its answers (SPEC.md, sections 1 to 3 and 7). */
export interface SigningVector {
  title: string;
  sentences: string[];
  /** Ed25519 seed, 32 bytes in hex. */
  seed: string;
  internId: string;
  /** The `sub` of the access token. */
  subject: string;
  /** The signer's clock, Unix seconds. */
  now: number;
  /** The output of its random source, in base64url. */
  nonce: string;
  /** The body of the signing request. */
  requestBase64: string;
  expect: 'ok' | 'invalid_body' | 'no_proof';
  signingInputV1?: string;
  signingInputV2?: string;
  /** The answer. */
  headers?: Record<string, string>;
}

const SHA256 = '8a44725210b9dcd4fefd9f0eca07b70ae45e69274a3105fb25eb426a2cf8bbf4';
const ROUTE = { method: 'POST', path: '/api/invoke' };
const WHOLE = { bodySha256: SHA256, route: ROUTE };

function vector(sentences: string, title: string, request: Buffer | unknown, claim: Partial<Claim>) {
  const { internId, user, timestamp, nonce } = { ...CLAIM, ...claim };
  const bytes = Buffer.isBuffer(request) ? request : Buffer.from(JSON.stringify(request));
  return {
    title,
    sentences: sentences.split(' '),
    seed: INTERN_KEY.seed.toString('hex'),
    internId,
    subject: user,
    now: Number(timestamp),
    nonce,
    requestBase64: bytes.toString('base64'),
  };
}

function signs(
  sentences: string,
  title: string,
  claim: Partial<Claim> = {},
  request?: Buffer | unknown,
): SigningVector {
  const made = { ...CLAIM, ...claim };
  const route = { method: made.method, path: made.path };
  const asked = made.version === 1 ? { bodySha256: SHA256 } : { bodySha256: SHA256, route };
  return {
    ...vector(sentences, title, request ?? asked, claim),
    expect: 'ok',
    signingInputV1: inputV1(made).toString('latin1'),
    ...(made.version === 2 ? { signingInputV2: inputV2(made).toString('latin1') } : {}),
    headers: Object.fromEntries(proofHeaders(made)),
  };
}

function refuses(title: string, request: Buffer | unknown): SigningVector {
  return { ...vector('S1', `refuses ${title}`, request, {}), expect: 'invalid_body' };
}

const text = (json: string): Buffer => Buffer.from(json);
const PRINTABLE = Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index)).join('');

export const signingVectors: SigningVector[] = [
  signs('S5 B1 B2', 'signs the worked example in both versions', { nonce: 'AAECAwQFBgcICQoLDA0ODw' }),
  signs('S5', 'signs version 1 alone without a route', { version: 1 }),
  signs('B1', 'signs another nonce', { nonce: namedNonce('second') }),
  signs('S3', 'signs another second', { timestamp: String(TIMESTAMP + 1) }),
  signs('S3', 'signs a clock of ten digits and of nine', { timestamp: '999999999' }),
  signs('S2', 'names the subject of the token', { user: 'user_3def' }),
  signs('S2 F1', 'names a subject of every character it may have', { user: PRINTABLE.replace(',', '') }),
  signs('S2 F1', 'names a subject of 255 characters', { user: 'u'.repeat(255) }),
  signs('F1', 'signs for an intern id of 128 characters', { internId: '0'.padEnd(128, '-_aZ9') }),
  signs('F1', 'signs the shortest path', { path: '/' }),
  signs('F1', 'signs the longest path', { path: `/${'a'.repeat(2047)}` }),
  signs('F1', 'signs a path as it is spelt', { path: '//api/./%69nvoke/../%2f/a;b=c,d:e"<>[]{}|\\^`~' }),
  signs(
    'S1',
    'reads a request with white space and its members in another order',
    {},
    text(`\n{ "route" : {"path":"/api/invoke", "method":"POST"},\t"bodySha256":"${SHA256}" } `),
  ),
  signs(
    'S1',
    'reads escapes of JSON',
    {},
    text(`{"bodySha256":"${SHA256}","route":{"method":"\\u0050OST","path":"\\/api\\u002finvoke"}}`),
  ),
  ...['user 2abc', 'user,2abc', 'us\xe9r', '', 'u'.repeat(256), 'user_2abc\n'].map(
    (user): SigningVector => ({
      ...vector(
        'S2',
        `makes no proof for the subject ${JSON.stringify(user).slice(0, 20)} of ${user.length} characters`,
        WHOLE,
        {
          user,
        },
      ),
      expect: 'no_proof',
    }),
  ),
  refuses('an empty body', Buffer.alloc(0)),
  refuses('an object without a digest', { route: ROUTE }),
  refuses('a digest in capitals', { ...WHOLE, bodySha256: SHA256.toUpperCase() }),
  refuses('a digest of 63 digits', { ...WHOLE, bodySha256: SHA256.slice(1) }),
  refuses('a digest with a line feed after it', { ...WHOLE, bodySha256: `${SHA256}\n` }),
  refuses('a digest that is null', { ...WHOLE, bodySha256: null }),
  refuses('a route that is null', { ...WHOLE, route: null }),
  refuses('a route without a method', { ...WHOLE, route: { path: '/' } }),
  refuses('a route without a path', { ...WHOLE, route: { method: 'POST' } }),
  refuses('another method', { ...WHOLE, route: { ...ROUTE, method: 'PUT' } }),
  refuses('a method in lower case', { ...WHOLE, route: { ...ROUTE, method: 'post' } }),
  refuses('a path with a query', { ...WHOLE, route: { ...ROUTE, path: '/api?x=1' } }),
  refuses('a path with a fragment', { ...WHOLE, route: { ...ROUTE, path: '/api#x' } }),
  refuses('a path with a space', { ...WHOLE, route: { ...ROUTE, path: '/a b' } }),
  refuses('a path with a line feed after it', { ...WHOLE, route: { ...ROUTE, path: '/api\n' } }),
  refuses('a path outside ASCII', { ...WHOLE, route: { ...ROUTE, path: '/\u00e9' } }),
  refuses('a path without its slash', { ...WHOLE, route: { ...ROUTE, path: 'api' } }),
  refuses('a path of 2049 characters', { ...WHOLE, route: { ...ROUTE, path: `/${'a'.repeat(2048)}` } }),
  refuses('a member it does not know', { ...WHOLE, user: 'user_mallory' }),
  refuses('a member of the route it does not know', { ...WHOLE, route: { ...ROUTE, query: '' } }),
  refuses('a digest given twice', text(`{"bodySha256":"${SHA256}","bodySha256":"${SHA256}"}`)),
  refuses(
    'a digest given twice, once escaped',
    text(`{"bodySha256":"${SHA256}","body\\u0053ha256":"${SHA256}"}`),
  ),
  refuses(
    'a path given twice',
    text(`{"bodySha256":"${SHA256}","route":{"method":"POST","path":"/a","path":"/b"}}`),
  ),
  refuses('a byte order mark', Buffer.concat([Buffer.from('efbbbf', 'hex'), text(JSON.stringify(WHOLE))])),
  refuses('bytes that are not UTF-8', Buffer.concat([text(JSON.stringify(WHOLE)), Buffer.of(0xff)])),
  refuses('two objects', text(`${JSON.stringify(WHOLE)}${JSON.stringify(WHOLE)}`)),
  refuses('a list', [WHOLE]),
  refuses('half an object', text(JSON.stringify(WHOLE).slice(0, -1))),
];
