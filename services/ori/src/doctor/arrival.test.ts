import { createHash } from 'node:crypto';
import { renderProof } from '@ori/proof/wire';
import { expect, it } from 'vitest';
import { type Change, changesOf, type Diagnosis, readDiagnosis, type SentCall } from './arrival.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const BODY = '{ "prompt": "hello" }\n';
const proof = renderProof({
  timestamp: 1_789_000_000,
  user: 'user_2abc',
  nonce: 'AAECAwQFBgcICQoLDA0ODw',
  signatures: ([1, 2] as const).map((version) => ({ version, signature: new Uint8Array(64) })),
});
const SENT: SentCall = {
  origin: 'https://daemon.example',
  path: '/api//invoke',
  contentType: 'application/json',
  proof,
  body: { sha256: sha256(BODY), bytes: BODY.length },
  text: BODY,
};
const HEADERS = Object.fromEntries(
  Object.entries({ ...proof, 'content-type': SENT.contentType }).map(([name, value]) => [
    name,
    [sha256(value)],
  ]),
);
const AS_SENT: Diagnosis = {
  method: sha256('POST'),
  path: sha256(SENT.path),
  query: false,
  body: SENT.body.sha256,
  bodyBytes: BODY.length,
  headers: HEADERS,
};
const { 'x-ori-invoke-user': _user, ...WITHOUT_USER } = HEADERS;
const user = (...values: string[]) => ({ headers: { ...HEADERS, 'x-ori-invoke-user': values.map(sha256) } });

it.each<[string, Partial<Diagnosis>, Change[]]>([
  ['nothing', {}, []],
  ['nothing about a body that was not read', { body: null, bodyBytes: null }, []],
  [
    'the method',
    { method: sha256('GET') },
    [{ field: 'method', change: 'changed', sent: 'POST', arrived: 'GET' }],
  ],
  ['an unknown method', { method: sha256('FOO') }, [{ field: 'method', change: 'changed', sent: 'POST' }]],
  [
    'the path',
    { path: sha256('/api/invoke') },
    [{ field: 'path', change: 'changed', sent: '/api//invoke', arrived: '/api/invoke' }],
  ],
  [
    'an unexplained path',
    { path: sha256('/x/y') },
    [{ field: 'path', change: 'changed', sent: '/api//invoke' }],
  ],
  ['a query', { query: true }, [{ field: 'query', change: 'added' }]],
  ['a lost body', { body: sha256(''), bodyBytes: 0 }, [{ field: 'body', change: 'lost', sent: '22 bytes' }]],
  [
    'another body',
    { body: sha256('abc'), bodyBytes: 3 },
    [{ field: 'body', change: 'changed', sent: '22 bytes', arrived: '3 bytes' }],
  ],
  [
    'a reserialized body',
    { body: sha256('{"prompt":"hello"}'), bodyBytes: 18 },
    [{ field: 'body', change: 'changed', sent: '22 bytes', arrived: '18 bytes, reserialized as JSON' }],
  ],
  [
    'a body without its line feed',
    { body: sha256(BODY.trim()), bodyBytes: 21 },
    [
      {
        field: 'body',
        change: 'changed',
        sent: '22 bytes',
        arrived: '21 bytes, without the surrounding white space',
      },
    ],
  ],
  ['a lost header', { headers: WITHOUT_USER }, [{ field: 'x-ori-invoke-user', change: 'lost' }]],
  [
    'a header that came twice',
    user('user_2abc', 'user_2abc'),
    [{ field: 'x-ori-invoke-user', change: 'repeated' }],
  ],
  [
    'a header that was joined with itself',
    user('user_2abc, user_2abc'),
    [{ field: 'x-ori-invoke-user', change: 'repeated' }],
  ],
  ['a header of another value', user('mallory'), [{ field: 'x-ori-invoke-user', change: 'changed' }]],
  ['a header without a value', user(''), [{ field: 'x-ori-invoke-user', change: 'emptied' }]],
  [
    'the media type',
    { headers: { ...HEADERS, 'content-type': [sha256('text/plain')] } },
    [{ field: 'content-type', change: 'changed' }],
  ],
  [
    'a content coding',
    { headers: { ...HEADERS, 'content-encoding': [sha256('gzip')] } },
    [{ field: 'content-encoding', change: 'added' }],
  ],
  [
    'several at once',
    { method: sha256('GET'), path: sha256('/'), query: true },
    [
      { field: 'method', change: 'changed', sent: 'POST', arrived: 'GET' },
      { field: 'path', change: 'changed', sent: '/api//invoke', arrived: '/' },
      { field: 'query', change: 'added' },
    ],
  ],
])('names %s', (_what, seen, changes) => {
  expect(changesOf(SENT, { ...AS_SENT, ...seen })).toEqual(changes);
});

it('does not explain a body that is not JSON or not available', () => {
  const seen = { ...AS_SENT, body: sha256('x'), bodyBytes: 1 };
  const [change] = changesOf({ ...SENT, text: 'no JSON' }, seen);
  const { text: _text, ...unknown } = SENT;
  expect(changesOf(unknown, seen)).toEqual([change]);
  expect(change?.arrived).toBe('1 bytes');
});

it('never shows the value of a proof header', () => {
  const changes = changesOf(SENT, { ...AS_SENT, headers: {} });
  expect(changes.map(({ field }) => field)).toEqual(Object.keys(HEADERS));
  for (const value of Object.values(proof)) expect(JSON.stringify(changes)).not.toContain(value);
});

it.each([
  undefined,
  null,
  'text',
  {},
  { ...AS_SENT, path: 'x' },
  { ...AS_SENT, query: 'false' },
  { ...AS_SENT, bodyBytes: -1 },
  { ...AS_SENT, headers: { 'x-ori-invoke-user': [] } },
  { ...AS_SENT, headers: { 'x-ori-invoke-user': Array(5).fill(sha256('')) } },
])('does not accept %o as a diagnosis', (value) => expect(readDiagnosis(value)).toBeUndefined());

it('reads a diagnosis, and ignores unknown members', () => {
  expect(readDiagnosis({ ...AS_SENT, later: 1 })).toEqual(AS_SENT);
});
