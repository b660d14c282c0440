import { expect, test } from 'vitest';
import { judgeForTools } from './openapi-rules.ts';

const schema = (one: object) => ({ components: { schemas: { One: { properties: { one } } } } });
const answer = (one: object) => ({ paths: { '/': { get: { responses: { 200: one } } } } });
const AT = '/components/schemas/One/properties/one: ';

test.each([
  ['a pattern without its beginning', schema({ pattern: 'Z$' }), 'not anchored'],
  ['a pattern that is anchored in one of two ways only', schema({ pattern: '^a|b$' }), 'not anchored'],
  ['more repetitions than RE2 has', schema({ pattern: '^a{0,2047}$' }), 'RE2'],
  ['an assertion, which RE2 and Rust do not have', schema({ pattern: '^(?=a)a$' }), 'RE2'],
  ['a group that ECMAScript writes in another way', schema({ pattern: '^(?P<a>a)$' }), 'ECMAScript'],
  ['an operator of sets in Rust', schema({ pattern: '^[a&&b]$' }), 'Rust'],
  ['a set within a set in Rust', schema({ pattern: '^[a[]$' }), 'Rust'],
  ['a schema that is only null', schema({ type: 'null' }), 'only null'],
  ['a boolean that is constant', schema({ type: 'boolean', const: true }), 'a constant boolean'],
  ['a number that is no double', schema({ type: ['number', 'null'] }), 'no double'],
  ['what an array contains', schema({ type: 'array', contains: {} }), 'contains'],
])('refuses %s', (_, document, fault) => {
  expect(judgeForTools(document)).toEqual([expect.stringMatching(`^${AT}.*${fault}`)]);
});

test.each([
  ['an answer with a body without a schema', answer({ content: { 'image/png': {} } }), 'image/png without'],
  ['an answer without a body', answer({}), 'a body without'],
  [
    'a header that a refusal requires',
    {
      paths: {
        '/': { get: { responses: { 429: { headers: { 'Retry-After': { required: true } }, content: {} } } } },
      },
    },
    'Retry-After: a required header',
  ],
])('refuses %s', (_, document, fault) => {
  expect(judgeForTools(document)).toEqual([expect.stringContaining(fault)]);
});
