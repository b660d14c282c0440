import { type RawAnswer, sendAll, sendTogether } from '../../env/raw-http.ts';
import { alter, append, changes, drop, rename, repeat, replace } from '../../vectors/change-headers.ts';
import { CLAIM, inputV2, namedKey, signed } from '../../vectors/proof.ts';
import { type Bench, type Change, codeOf, newNonce, nowSeconds, textOf } from './bench.ts';

/** One thing that a daemon must do. Resolves to what it did instead, or to undefined. */
export interface Check {
  readonly sentence: string;
  readonly title: string;
  /** What a daemon that gets a Fetch `Request` cannot see (SPEC.md, H6). */
  readonly isRaw?: true;
  run(bench: Bench): Promise<string | undefined>;
}

const V2 = ['x-ori-invoke-signature-v2', 'x-ori-invoke-nonce'];
const ALWAYS = ['x-ori-invoke-signature', 'x-ori-invoke-timestamp', 'x-ori-invoke-user'];
const STRANGER = namedKey('mallory');

export function accepted(answer: RawAnswer): string | undefined {
  if (answer.status !== 200) return `expected 200, got ${textOf(answer)}`;
  return answer.body.includes(CLAIM.user) ? undefined : 'the answer does not contain the user';
}

function accepts(sentence: string, title: string, change: Change = {}, isRaw?: true): Check {
  const run = async (bench: Bench) => accepted(await bench.tell(change));
  return { sentence, title: `accepts ${title}`, run, ...(isRaw && { isRaw }) };
}

/** Refused with one of these codes; without any, not accepted: a server may answer before the verifier is asked. */
function refuses(
  sentence: string,
  title: string,
  codes: readonly string[],
  change: Change | ((bench: Bench) => Change),
  isRaw?: true,
): Check {
  return {
    sentence,
    title: `refuses ${title}`,
    ...(isRaw && { isRaw }),
    async run(bench) {
      const answer = await bench.tell(typeof change === 'function' ? change(bench) : change);
      if (answer.status === 200) return 'it was accepted';
      if (codes.length === 0 || codes.includes(codeOf(answer) ?? '')) return undefined;
      return `expected ${codes.join(' or ')}, got ${textOf(answer)}`;
    },
  };
}

const MISSING = ['proof_missing'];
const MALFORMED = ['proof_malformed'];
const UNCOVERABLE = ['request_not_coverable'];
const INVALID = ['signature_invalid'];
const type = (value: string): Change => ({ headers: replace('Content-Type', value) });
const coding = (value: string): Change => ({ headers: append(['Content-Encoding', value]) });
const aged = (seconds: number): Change => ({ claim: { timestamp: String(nowSeconds() + seconds) } });
/** Targets that are not the signed path, though some servers make them that. */
const TARGETS: readonly (readonly [
  sentence: string,
  title: string,
  sent: (path: string) => string,
  isRaw?: true,
])[] = [
  ['V8', 'an empty query', (path) => `${path}?`, true],
  ['V8', 'a fragment', (path) => `${path}#top`, true],
  ['V8', 'a target in absolute form', (path) => `http://daemon.example${path}`, true],
  ['V8', 'a target in asterisk form', () => '*'],
  ['V16', 'dot segments that lead to the signed path', (path) => `/x/..${path}`, true],
  ['V16', 'a segment of one dot', (path) => path.replace(/\/(?=[^/]*$)/, '/./'), true],
  ['V16', 'an encoded dot segment', (path) => `/%2e${path}`, true],
  ['V16', 'a backslash for a slash', (path) => path.replace(/\/(?=[^/]*$)/, '\\'), true],
  [
    'V16',
    'an escaped letter',
    (path) => path.replace(/[a-z]$/, (last) => `%${last.charCodeAt(0).toString(16)}`),
  ],
  ['V16', 'two slashes for one', (path) => `/${path}`],
];

const HEADERS: readonly Check[] = [
  accepts('B1', 'a good proof'),
  accepts('H1', 'header names in capitals', {
    headers: (headers) => headers.map(([name, value]) => [name.toUpperCase(), value]),
  }),
  ...[...ALWAYS, ...V2].map((name) =>
    refuses('H2', `a second ${name}`, MALFORMED, { headers: repeat(name) }),
  ),
  ...[...ALWAYS, ...V2].map((name) =>
    refuses('H2', `a second ${name} after a line that is not a header`, [], {
      headers: (headers) => [...headers, ['not a name', '1'], ...headers.filter(([each]) => each === name)],
    }),
  ),
  accepts('H3', 'names with underscores beside a proof', {
    headers: append(['x_ori_invoke_user', 'user_mallory'], ['x.ori.invoke.user', 'user_mallory']),
  }),
  refuses('H3', 'a name with underscores in the place of its header', MISSING, {
    headers: rename('x-ori-invoke-user', 'x_ori_invoke_user'),
  }),
  accepts('H4', 'the headers in another order', { headers: (headers) => headers.toReversed() }),
  accepts(
    'H5',
    'a body in chunks, and reads no trailer field',
    {
      raw: { trailers: [['x-ori-invoke-user', 'user_mallory']] },
    },
    true,
  ),
  {
    sentence: 'H5',
    title: 'refuses a proof in trailer fields',
    async run(bench) {
      const { headers } = bench.request();
      const isProof = ([name]: readonly string[]) => name?.startsWith('x-ori-') === true;
      const raw = { trailers: headers.filter(isProof) };
      const answer = await bench.tell({ headers: () => headers.filter((header) => !isProof(header)), raw });
      return answer.status === 200 ? 'it was accepted' : undefined;
    },
  },
  ...ALWAYS.map((name) => refuses('V3', `a request without ${name}`, MISSING, { headers: drop(name) })),
  refuses('V3', 'a request without a proof', MISSING, { headers: drop(...ALWAYS, ...V2) }),
  ...V2.map((name) => refuses('V4', `a request without ${name}`, MALFORMED, { headers: drop(name) })),
  refuses('V4', 'a user with a comma', MALFORMED, { headers: replace('x-ori-invoke-user', 'a,b') }),
  accepts('F1', 'values around which the server took white space away', {
    // Not of Host: workerd answers 500 to that by itself.
    headers: (headers) =>
      headers.map(([name, value]) => [name, name.toLowerCase() === 'host' ? value : `\t ${value} \t`]),
  }),
  refuses('F1', 'a timestamp with a leading zero', MALFORMED, {
    headers: alter('x-ori-invoke-timestamp', (text) => `0${text}`),
  }),
  refuses('B2', 'a signature with loose bits', MALFORMED, {
    headers: alter('x-ori-invoke-signature', (text) => `${text.slice(0, 85)}B==`),
  }),
  refuses('V5', 'version 1', ['proof_version_not_accepted'], { claim: { version: 1 } }),
  refuses('V6', 'a forged version 2 beside a good version 1', INVALID, {
    headers: replace('x-ori-invoke-signature-v2', signed(inputV2(CLAIM), STRANGER)),
  }),
];

const REQUESTS: readonly Check[] = [
  ...['/%2ewell-known/ori/calls/', '//.well-known/ori/calls/', '/.well-known/./ori/calls/'].map((path) =>
    refuses('V20', `the path of a question spelled ${path}`, [], {
      claim: { path: `${path}AAAAAAAAAAAAAAAAAAAAAA`, body: Buffer.alloc(0) },
    }),
  ),
  ...['GET', 'PUT', 'DELETE'].map((method) => refuses('V7', `the method ${method}`, [], { method })),
  refuses('V8', 'a query', UNCOVERABLE, ({ path }) => ({ target: `${path}?admin=1` })),
  ...TARGETS.map(([sentence, title, sent, isRaw]) =>
    refuses(sentence, title, [], ({ path }) => ({ target: sent(path) }), isRaw),
  ),
  refuses(
    'V8',
    'a target in absolute form whose origin is that of Host',
    [],
    ({ path, daemon }) => ({ target: `http://${daemon.url.host}${path}` }),
    true,
  ),
  refuses('V9', 'a request without a media type', UNCOVERABLE, { headers: drop('Content-Type') }),
  refuses('V9', 'a second Content-Type', [], { headers: append(['Content-Type', 'text/plain']) }, true),
  refuses(
    'V9',
    'the same Content-Type twice',
    [],
    { headers: append(['Content-Type', 'application/json']) },
    true,
  ),
  refuses('V10', 'another media type', [], type('text/plain')),
  refuses('V10', 'another charset', [], type('application/json; charset=utf-16')),
  refuses('V10', 'a charset without its hyphen', [], type('application/json; charset=utf8')),
  accepts('V10', 'charset=utf-8', type('Application/JSON; charset="UTF-8"')),
  refuses('V11', 'gzip', [], coding('gzip')),
  accepts('V11', 'identity', coding('Identity')),
  accepts('V11', 'a body in chunks', { raw: { trailers: [] } }, true),
  accepts('V16', 'headers that a proof does not cover, more than once', {
    headers: append(['x-forwarded-for', '203.0.113.7'], ['x-request-id', '1'], ['x-request-id', '2']),
  }),
];

const JUDGED: readonly Check[] = [
  { ...refuses('V12', 'a proof of 65 s ago', ['proof_expired'], () => aged(-65)) },
  { ...refuses('V13', 'a proof of the next minute', ['proof_not_yet_valid'], () => aged(60)) },
  refuses('V15', 'another path than the one signed', INVALID, (bench) => ({
    claim: { path: `${bench.path}2` },
    target: bench.path,
  })),
  refuses('V15', 'another body than the one signed', INVALID, { body: Buffer.from('{"prompt":"hellp"}') }),
  refuses('V15', 'no body and no length of one where a body was signed', INVALID, {
    body: Buffer.alloc(0),
    raw: { announced: 'none' },
  }),
  refuses('V15', 'another user than the one signed', INVALID, {
    headers: replace('x-ori-invoke-user', 'user_mallory'),
  }),
  refuses('V15', 'a proof for another intern', INVALID, { claim: { internId: 'int_other' } }),
  refuses('V15', 'a proof under a key that is not published', INVALID, { claim: { key: STRANGER } }),
  accepts('V15', 'a body that is not text', { claim: { body: Buffer.from('22ff80c0fe22', 'hex') } }),
  refuses('V1', 'an old proof for the first thing that is wrong with it', MALFORMED, () => ({
    ...aged(-600),
    headers: changes(replace('x-ori-invoke-nonce', 'short'), replace('Content-Type', 'text/plain')),
  })),
  {
    sentence: 'N7',
    title: 'accepts one of 16 copies',
    async run(bench) {
      const change = { claim: { nonce: newNonce(), timestamp: String(nowSeconds()) } };
      const answers = await Promise.all(Array.from({ length: 16 }, () => bench.tell(change)));
      const codes = answers.map((answer) =>
        answer.status === 200 ? 'ok' : (codeOf(answer) ?? textOf(answer)),
      );
      const isOnce = codes.toSorted().join() === [...Array(15).fill('nonce_replayed'), 'ok'].join();
      return isOnce ? undefined : `the verdicts were ${codes.toSorted().join()}`;
    },
  },
  {
    sentence: 'V18',
    title: 'spends nothing on a refused proof',
    async run(bench) {
      const change = { claim: { nonce: newNonce(), timestamp: String(nowSeconds()) } };
      const bad = await bench.tell({ ...change, body: Buffer.from('{"prompt":"hellp"}') });
      if (bad.status === 200) return 'another body was accepted';
      return accepted(await bench.tell(change));
    },
  },
  {
    sentence: 'V18',
    title: 'spends nothing on a body that breaks off',
    async run(bench) {
      const change = { claim: { nonce: newNonce(), timestamp: String(nowSeconds()) } };
      const cut = await bench.tell({ ...change, raw: { cutAfter: 5 } });
      if (cut.status === 200) return 'half of the body was accepted';
      return accepted(await bench.tell(change));
    },
  },
  {
    sentence: 'V15',
    title: 'accepts no body whose chunks a server in front would read otherwise',
    isRaw: true,
    async run(bench) {
      const answer = await bench.tell({ raw: { trailers: [], chunkEnd: 'xx' } });
      return answer.status === 200 ? 'it was accepted' : undefined;
    },
  },
  {
    sentence: 'N7',
    title: 'judges two requests that arrive together on one connection',
    async run(bench) {
      const change = { claim: { nonce: newNonce(), timestamp: String(nowSeconds()) } };
      const [first, second] = await sendAll(bench.daemon.url, [bench.request(change), bench.request(change)]);
      if (first === undefined || accepted(first) !== undefined)
        return `the first: ${first ? textOf(first) : 'no answer'}`;
      return second?.status === 200 ? 'the copy was accepted too' : undefined;
    },
  },
];

const SIZES: readonly Check[] = [
  refuses('E6', 'a body that is announced as too large', ['body_too_large'], (bench) => ({
    raw: { announced: bench.bodyBytesMax + 1 },
  })),
  refuses('E6', 'a bad proof before it judges the size', MALFORMED, (bench) => ({
    headers: replace('x-ori-invoke-nonce', 'short'),
    raw: { announced: bench.bodyBytesMax + 1 },
  })),
  {
    sentence: 'E6',
    title: 'refuses a body in chunks that is too large, without spending its proof',
    isRaw: true,
    async run(bench) {
      const body = Buffer.alloc(bench.bodyBytesMax + 1, 'x');
      const answer = await bench.tell({ claim: { body }, raw: { trailers: [] } });
      if (answer.status === undefined || codeOf(answer) === 'body_too_large') return undefined;
      return `got ${textOf(answer)}`;
    },
  },
];

/** How a request may end whose body does not. */
const ENDED: readonly (string | undefined)[] = [undefined, 'proof_expired', 'body_incomplete'];

/** Take 30 s and more, at the same time. */
export const SLOW_CHECKS: readonly Check[] = [
  {
    sentence: 'V17',
    title: 'refuses a body that takes longer than 30 s',
    async run(bench) {
      const request = bench.request();
      const byteEveryMs = 33_000 / request.body.length;
      const answer = await bench.tell({ raw: { ...request, byteEveryMs } });
      if (answer.status === 200) return 'it was accepted';
      return ENDED.includes(codeOf(answer)) ? undefined : `got ${textOf(answer)}`;
    },
  },
  {
    sentence: 'E7',
    title: 'ends a request whose body does not arrive',
    async run(bench) {
      const request = bench.request();
      const raw = { ...request, announced: 500, body: Buffer.alloc(100, 'x'), byteEveryMs: 1000 };
      const answer = await bench.tell({ raw });
      if (answer.milliseconds > 34_000) return 'it was still open after 34 s';
      return ENDED.includes(codeOf(answer)) ? undefined : `got ${textOf(answer)}`;
    },
  },
];

/** Bursts, and the copies of each of two proofs in one. */
const [BURSTS, COPIES] = [300, 2];

/** Takes seconds. What two processes do without a lock meets in one burst of about ten. */
export const RACE_CHECKS: readonly Check[] = [
  {
    sentence: 'N7',
    title: `accepts each proof once in ${BURSTS} bursts of copies`,
    async run(bench) {
      for (let burst = 0; burst < BURSTS; burst++) {
        const proofs = [bench.request(), bench.request()];
        const answers = await sendTogether(
          bench.daemon.url,
          proofs.flatMap((request) => Array.from({ length: COPIES }, () => request)),
        );
        const counts = [answers.slice(0, COPIES), answers.slice(COPIES)].map(
          (own) => own.filter(({ status }) => status === 200).length,
        );
        if (counts.some((count) => count > 1)) return `burst ${burst + 1}: a proof was accepted twice`;
      }
      return undefined;
    },
  },
];

export const CHECKS: readonly Check[] = [...HEADERS, ...REQUESTS, ...JUDGED, ...SIZES];
