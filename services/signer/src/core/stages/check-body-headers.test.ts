import { expect, test } from 'vitest';
import { BODY_BYTES_MAX, checkBodyHeaders } from './check-body-headers.ts';
import { codeOf } from './stages.fixture.ts';

const good = { contentType: 'application/json', contentEncoding: undefined, contentLength: 100 };

test('allows JSON up to the limit, and refuses more as too large', () => {
  const { bytesMax, excess } = checkBodyHeaders({ ...good, contentLength: BODY_BYTES_MAX });
  expect([bytesMax, excess]).toEqual([1_048_576, 'payload_too_large']);
});

test.each(['application/json; charset=utf-8', 'APPLICATION/JSON', ' application/json ;x=y'])(
  'accepts %s as JSON',
  (contentType) => {
    expect(checkBodyHeaders({ ...good, contentType }).bytesMax).toBe(BODY_BYTES_MAX);
  },
);

test.each([
  undefined,
  '',
  'text/plain',
  'application/jso',
  'application/ld+json',
  'application/jsonx',
  'text/json',
  'application/json, text/plain',
])('allows no byte of %s, and refuses one as unsupported', (contentType) => {
  const { bytesMax, excess } = checkBodyHeaders({ ...good, contentType, contentLength: undefined });
  expect([bytesMax, excess]).toEqual([0, 'unsupported_media_type']);
  expect(checkBodyHeaders({ ...good, contentType, contentLength: 0 }).bytesMax).toBe(0);
  expect(codeOf(() => checkBodyHeaders({ ...good, contentType, contentLength: 1 }))).toBe(
    'unsupported_media_type',
  );
});

test.each(['gzip', 'identity, gzip', 'x-identity', ''])(
  'refuses the content encoding "%s"',
  (contentEncoding) => {
    expect(codeOf(() => checkBodyHeaders({ ...good, contentEncoding, contentLength: 0 }))).toBe(
      'unsupported_media_type',
    );
  },
);

test('checks the media type before the length', () => {
  const headers = { ...good, contentType: 'text/plain', contentLength: BODY_BYTES_MAX + 1 };
  expect(codeOf(() => checkBodyHeaders(headers))).toBe('unsupported_media_type');
  expect(codeOf(() => checkBodyHeaders({ ...headers, contentType: 'application/json' }))).toBe(
    'payload_too_large',
  );
});

test('accepts a body without a content encoding', () => {
  const contentEncoding = ' Identity';
  expect(checkBodyHeaders({ ...good, contentEncoding }).bytesMax).toBe(BODY_BYTES_MAX);
});
