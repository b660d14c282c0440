import fc from 'fast-check';
import type { Ask } from '../env/http-client.ts';
import { malformedBody } from './malformed-bodies.ts';
import { type ValidRequest, validRequest } from './valid-request.ts';

/** A request that must be refused, and the body of the valid one that is sent beside it. */
export interface Malformed {
  readonly kind: string;
  readonly twin: ValidRequest;
  /** Method, path and headers. The valid request is a `POST` to the sign path with `goodHeaders`. */
  readonly ask: (signPath: string, bearer: string) => Ask;
}

export const goodHeaders = (bearer: string): readonly string[] => [
  ...['Authorization', `Bearer ${bearer}`],
  ...['Content-Type', 'application/json'],
];

const malformedBodies: fc.Arbitrary<Malformed> = malformedBody.map(({ kind, twin, body }) => ({
  kind,
  twin,
  ask: (path, bearer) => ({ method: 'POST', path, headers: goodHeaders(bearer), body }),
}));

/** A valid body, sent incorrectly. */
function sent(kind: string, change: fc.Arbitrary<(good: Ask) => Ask>): fc.Arbitrary<Malformed> {
  return fc.tuple(validRequest, change).map(([twin, how]) => ({
    kind,
    twin,
    ask: (path, bearer) =>
      how({ method: 'POST', path, headers: goodHeaders(bearer), body: JSON.stringify(twin) }),
  }));
}

const withHeader = (name: string, value: string) => (good: Ask) => {
  const headers = good.headers ?? [];
  const at = headers.findIndex((header, index) => index % 2 === 0 && header === name);
  if (at === -1) return { ...good, headers: [...headers, name, value] };
  return { ...good, headers: headers.toSpliced(at + 1, 1, value) };
};

const word = fc.stringMatching(/^[a-z]{1,12}$/);

const mediaTypes = sent(
  'content type',
  fc
    .oneof(
      fc.constantFrom('text/plain', 'text/json', 'application/x-www-form-urlencoded', 'multipart/form-data'),
      fc.constantFrom(
        'application',
        'json',
        '',
        '*/*',
        'application/*',
        'application/jsonp',
        'application json',
      ),
      fc.constantFrom(
        'application/problem+json',
        'application/json-seq',
        'application/json5',
        'a/application/json',
      ),
      fc.tuple(word, word).map(([type, subtype]) => `${type}/${subtype}`),
    )
    .filter((type) => type !== 'application/json')
    .map((type) => withHeader('Content-Type', type)),
);
const encodings = sent(
  'content encoding',
  fc
    .oneof(fc.constantFrom('gzip', 'br', 'deflate', 'zstd', 'x-gzip', 'gzip, identity', 'identity, br'), word)
    .filter((coding) => coding !== 'identity')
    .map((coding) => withHeader('Content-Encoding', coding)),
);
const methods = sent(
  'method',
  fc
    .oneof(
      fc.constantFrom('GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'SEARCH', 'LINK'),
      fc.constantFrom('FOO', 'POSTS'),
    )
    .map((method) => (good: Ask) => ({ ...good, method })),
);
const changes: readonly ((path: string) => string)[] = [
  (path) => `${path}/`,
  (path) => `/${path}`,
  (path) => path.replace('/daemon', '//daemon'),
  (path) => path.replace('/daemon', '/./daemon'),
  (path) => path.replace('/daemon/', '/daemon/../daemon/'),
  (path) => path.replace('sign', 'sig%6e'),
  (path) => path.replace('sign', 'SIGN'),
  (path) => path.replace('/v1', '/V1'),
  (path) => path.replace('/v1', ''),
  (path) => path.replace('/daemon', '%2fdaemon'),
  (path) => path.replace('/daemon', ';a=b/daemon'),
  (path) => path.replace('/daemon', '%/daemon'),
  (path) => path.replace('/daemon', '%ff/daemon'),
  (path) => path.replace('/daemon', '%00/daemon'),
  (path) => path.replace('/daemon', 'x/daemon'),
  (path) => path.replace(/interns\/[^/]+/, 'interns/'),
  (path) => path.replace(/interns\/[^/]+/, 'interns/..'),
  (path) => path.replace(/interns\/[^/]+/, `interns/${'a'.repeat(129)}`),
];
const targets = sent(
  'target',
  fc.oneof(
    fc.constantFrom(...changes).map((change) => (good: Ask) => ({ ...good, path: change(good.path) })),
    word.map((id) => (good: Ask) => ({
      ...good,
      path: good.path.replace(/interns\/[^/]+/, `interns/${id}`),
    })),
  ),
);
const closing = (good: Ask): Ask => withHeader('Connection', 'close')(good);
const doubledHeader = (name: string, value: string) => (good: Ask) =>
  closing({ ...good, headers: [...(good.headers ?? []), name, value] });
const framing = sent(
  'header',
  fc.constantFrom<(good: Ask) => Ask>(
    (good) => doubledHeader('Authorization', good.headers?.[1] ?? '')(good),
    (good) => doubledHeader('Transfer-Encoding', 'chunked')(withHeader('Content-Length', '5')(good)),
    doubledHeader('Transfer-Encoding', 'gzip, chunked'),
    doubledHeader('Transfer-Encoding', 'identity, chunked'),
    (good) => doubledHeader('Host', 'b')({ ...good, headers: ['Host', 'a', ...(good.headers ?? [])] }),
    doubledHeader('Expect', '200-maybe'),
    doubledHeader('Content-Length', '-1'),
    doubledHeader('Content-Length', '0x10'),
    doubledHeader('Content-Length', '2000000'),
    doubledHeader('X-Long', 'a'.repeat(20_000)),
  ),
);
const tooLarge = sent(
  'too large',
  fc
    .integer({ min: 1_048_577, max: 1_100_000 })
    .map((length) => (good: Ask) => closing({ ...good, body: String(good.body).padEnd(length, ' ') })),
);

export const malformedRequest: fc.Arbitrary<Malformed> = fc.oneof(
  { weight: 300, arbitrary: malformedBodies },
  { weight: 20, arbitrary: mediaTypes },
  { weight: 10, arbitrary: encodings },
  { weight: 15, arbitrary: methods },
  { weight: 25, arbitrary: targets },
  { weight: 20, arbitrary: framing },
  { weight: 2, arbitrary: tooLarge },
);
