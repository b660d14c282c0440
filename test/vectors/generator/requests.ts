import { append, drop, rename, replace } from './change-headers.ts';
import { scenario, step } from './proof.ts';
import type { Scenario } from './scenario.ts';

function uncoverable(what: string, request: { method?: string; target?: string }): Scenario {
  return scenario('5.3', `refuses ${what}`, [step('request_not_coverable', request)]);
}

function mediaType(verdict: 'ok' | 'request_not_coverable', what: string, value: string): Scenario {
  const title = `${verdict === 'ok' ? 'accepts' : 'refuses'} ${what}`;
  return scenario('5.3', title, [step(verdict, { headers: replace('Content-Type', value) })]);
}

function coding(verdict: 'ok' | 'request_not_coverable', what: string, ...values: string[]): Scenario {
  const title = `${verdict === 'ok' ? 'accepts' : 'refuses'} ${what}`;
  const headers = values.map((value) => ['Content-Encoding', value] as const);
  return scenario('5.3', title, [step(verdict, { headers: append(...headers) })]);
}

/** What is not signed may not vary (SPEC.md, section 5.3). */
export const requestScenarios: Scenario[] = [
  uncoverable('a query added to a signed path', { target: '/api/invoke?admin=1' }),
  uncoverable('an empty query', { target: '/api/invoke?' }),
  uncoverable('a fragment', { target: '/api/invoke#top' }),
  uncoverable('a target in absolute form', { target: 'http://int-7qm2.daemon.example/api/invoke' }),
  uncoverable('a target in authority form', { target: 'int-7qm2.daemon.example:443' }),
  uncoverable('a target in asterisk form', { target: '*' }),
  uncoverable('an empty target', { target: '' }),
  uncoverable('a target without its slash', { target: 'api/invoke' }),
  uncoverable('a target with a space', { target: '/api/in voke' }),
  uncoverable('a target outside ASCII', { target: '/api/invok\xe9' }),
  uncoverable('a target with DEL', { target: '/api/invoke\x7f' }),
  uncoverable('a target of 2049 characters', { target: `/${'a'.repeat(2048)}` }),
  scenario('1', 'refuses a query even where it was signed', [
    step('request_not_coverable', { claim: { path: '/api/invoke?prompt=hello' } }),
  ]),
  scenario('1', 'accepts a path of 2048 characters', [
    step('ok', { claim: { path: `/${'a'.repeat(2047)}` } }),
  ]),
  scenario('1', 'accepts the shortest path', [step('ok', { claim: { path: '/' } })]),
  scenario('1', 'takes a path as it was sent', [
    step('ok', { claim: { path: '//api/./%69nvoke/../%2F/a;b=c,d:e"<>[]{}|\\^`~' } }),
  ]),
  ...['GET', 'PUT', 'PATCH', 'DELETE', 'post', 'POST ', ''].map((method) =>
    uncoverable(`the method ${JSON.stringify(method)} of ${method.length} characters`, { method }),
  ),
  mediaType('ok', 'parameters of the media type', 'application/json; charset=utf-8'),
  mediaType('ok', 'a media type in capitals', 'Application/JSON'),
  mediaType('ok', 'a parameter without a space', 'application/json;charset=utf-8'),
  mediaType('request_not_coverable', 'another media type', 'text/plain'),
  mediaType('request_not_coverable', 'a media type that only begins like the right one', 'application/jsonl'),
  mediaType('request_not_coverable', 'a structured suffix', 'application/problem+json'),
  mediaType('request_not_coverable', 'two media types in one line', 'application/json, text/plain'),
  mediaType('request_not_coverable', 'an empty media type', ''),
  mediaType('request_not_coverable', 'the right media type as a parameter', 'text/plain; a=application/json'),
  scenario('5.3', 'refuses a request without a media type', [
    step('request_not_coverable', { headers: drop('Content-Type') }),
  ]),
  scenario('5.3', 'refuses a media type under another name', [
    step('request_not_coverable', { headers: rename('Content-Type', 'content_type') }),
  ]),
  scenario('5.3', 'refuses two media types', [
    step('request_not_coverable', { headers: append(['content-type', 'text/plain']) }),
  ]),
  scenario(
    '5.3',
    'accepts the media type it is configured for',
    [step('ok', { headers: replace('Content-Type', 'application/cbor') })],
    { verifier: { contentType: 'application/cbor' } },
  ),
  scenario('5.3', 'refuses JSON where another media type is configured', [step('request_not_coverable')], {
    verifier: { contentType: 'application/cbor' },
  }),
  coding('ok', 'the content coding identity', 'identity'),
  coding('ok', 'the content coding identity in capitals', 'Identity'),
  coding('request_not_coverable', 'the content coding gzip', 'gzip'),
  coding('request_not_coverable', 'the content coding br', 'br'),
  coding('request_not_coverable', 'gzip after identity in one line', 'identity, gzip'),
  coding('request_not_coverable', 'gzip after identity in a second header', 'identity', 'gzip'),
];
