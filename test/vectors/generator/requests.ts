import { append, drop, rename, replace } from './change-headers.ts';
import { scenario, step } from './proof.ts';
import type { Scenario } from './scenario.ts';

function uncoverable(
  sentence: string,
  what: string,
  request: { method?: string; target?: string },
): Scenario {
  return scenario(sentence, `refuses ${what}`, [step('request_not_coverable', request)]);
}

function mediaType(verdict: 'ok' | 'request_not_coverable', what: string, value: string): Scenario {
  const title = `${verdict === 'ok' ? 'accepts' : 'refuses'} ${what}`;
  return scenario('V10', title, [step(verdict, { headers: replace('Content-Type', value) })]);
}

function coding(verdict: 'ok' | 'request_not_coverable', what: string, ...values: string[]): Scenario {
  const title = `${verdict === 'ok' ? 'accepts' : 'refuses'} ${what}`;
  const headers = values.map((value) => ['Content-Encoding', value] as const);
  return scenario('V11', title, [step(verdict, { headers: append(...headers) })]);
}

/** Parts of a request that are not signed must not vary (SPEC.md, section 4.3). */
export const requestScenarios: Scenario[] = [
  uncoverable('V8', 'a query added to a signed path', { target: '/api/invoke?admin=1' }),
  uncoverable('V8', 'an empty query', { target: '/api/invoke?' }),
  uncoverable('V8', 'a fragment', { target: '/api/invoke#top' }),
  uncoverable('V8', 'a target in absolute form', { target: 'http://int-7qm2.daemon.example/api/invoke' }),
  uncoverable('V8', 'a target in authority form', { target: 'int-7qm2.daemon.example:443' }),
  uncoverable('V8', 'a target in asterisk form', { target: '*' }),
  uncoverable('V8', 'an empty target', { target: '' }),
  uncoverable('V8', 'a target without its slash', { target: 'api/invoke' }),
  uncoverable('V8', 'a target with a space', { target: '/api/in voke' }),
  uncoverable('V8', 'a target outside ASCII', { target: '/api/invok\xe9' }),
  uncoverable('V8', 'a target with DEL', { target: '/api/invoke\x7f' }),
  uncoverable('V8', 'a target of 2049 characters', { target: `/${'a'.repeat(2048)}` }),
  scenario('V8', 'refuses a query even where it was signed', [
    step('request_not_coverable', { claim: { path: '/api/invoke?prompt=hello' } }),
  ]),
  scenario('F1', 'accepts a path of 2048 characters', [
    step('ok', { claim: { path: `/${'a'.repeat(2047)}` } }),
  ]),
  scenario('F1', 'accepts the shortest path', [step('ok', { claim: { path: '/' } })]),
  scenario('V16', 'takes a path as it was sent', [
    step('ok', { claim: { path: '//api/./%69nvoke/../%2F/a;b=c,d:e"<>[]{}|\\^`~' } }),
  ]),
  ...['GET', 'PUT', 'PATCH', 'DELETE', 'post', 'POST ', ''].map((method) =>
    uncoverable('V7', `the method ${JSON.stringify(method)} of ${method.length} characters`, { method }),
  ),
  mediaType('ok', 'the parameter charset=utf-8', 'application/json; charset=utf-8'),
  mediaType('ok', 'a media type in capitals', 'Application/JSON'),
  mediaType('ok', 'a parameter without a space', 'application/json;charset=utf-8'),
  mediaType('request_not_coverable', 'another media type', 'text/plain'),
  mediaType('request_not_coverable', 'a media type that only begins like the right one', 'application/jsonl'),
  mediaType('request_not_coverable', 'a structured suffix', 'application/problem+json'),
  mediaType('request_not_coverable', 'two media types in one line', 'application/json, text/plain'),
  mediaType('request_not_coverable', 'an empty media type', ''),
  mediaType('request_not_coverable', 'the right media type as a parameter', 'text/plain; a=application/json'),
  scenario('V9', 'refuses a request without a media type', [
    step('request_not_coverable', { headers: drop('Content-Type') }),
  ]),
  scenario('V9', 'refuses a media type under another name', [
    step('request_not_coverable', { headers: rename('Content-Type', 'content_type') }),
  ]),
  scenario('V9', 'refuses two media types', [
    step('request_not_coverable', { headers: append(['content-type', 'text/plain']) }),
  ]),
  scenario(
    'V10',
    'accepts the media type it is configured for',
    [step('ok', { headers: replace('Content-Type', 'application/cbor') })],
    { verifier: { contentType: 'application/cbor' } },
  ),
  scenario('V10', 'refuses JSON where another media type is configured', [step('request_not_coverable')], {
    verifier: { contentType: 'application/cbor' },
  }),
  mediaType('ok', 'spaces and tabs around the media type', ' \t application/json \t'),
  mediaType('ok', 'spaces and tabs before the parameter', 'application/json \t; \tcharset=utf-8'),
  mediaType('ok', 'the parameter in capitals', 'application/json; Charset=UTF-8'),
  mediaType('ok', 'the parameter in quotes', 'application/json;charset="utf-8"'),
  ...[
    ['another charset', 'application/json; charset=utf-16'],
    ['a charset that only begins like UTF-8', 'application/json; charset=utf-8x'],
    ['another charset in quotes', 'application/json; charset="utf-7"'],
    ['a charset without a value', 'application/json; charset='],
    ['a charset with an open quote', 'application/json; charset="utf-8'],
    ['a charset in single quotes', "application/json; charset='utf-8'"],
    ['two charsets', 'application/json; charset=utf-8; charset=utf-16'],
    ['the same charset twice', 'application/json; charset=utf-8; charset=utf-8'],
    ['a boundary', 'application/json; boundary=x'],
    ['a boundary after the charset', 'application/json; charset=utf-8; boundary=x'],
    ['a parameter of another name', 'application/json; odata=verbose'],
    ['an empty parameter', 'application/json;'],
    ['a space around the equals sign', 'application/json; charset = utf-8'],
    ['a space inside the media type', 'application / json'],
    ['a no-break space after the media type', 'application/json\xa0'],
    ['a no-break space before the media type', '\xa0application/json'],
    ['a no-break space before the parameter', 'application/json;\xa0charset=utf-8'],
    ['a vertical tab after the media type', 'application/json\x0b'],
    ['a form feed before the media type', '\x0capplication/json'],
    ['a line feed after the media type', 'application/json\n'],
    ['a NUL after the media type', 'application/json\0'],
    ['two media types after the parameter', 'application/json; charset=utf-8, text/html'],
    ['the right media type after another', 'text/html, application/json'],
    ['the right media type twice in one line', 'application/json, application/json'],
    ['a comma alone after the media type', 'application/json,'],
    ['a media type without a subtype', 'application'],
    ['a wildcard', '*/*'],
  ].map(([what = '', value = '']) =>
    mediaType('request_not_coverable', `a Content-Type with ${what}`, value),
  ),
  scenario(
    'V10',
    'folds nothing outside ASCII in a media type',
    [step('request_not_coverable', { headers: replace('Content-Type', 'text/vnd.\xe2\x84\xaa') })],
    { verifier: { contentType: 'text/vnd.k' } },
  ),
  scenario('V9', 'refuses the right media type after another in a line of its own', [
    step('request_not_coverable', {
      headers: (headers) => [['content-type', 'text/plain'], ...headers],
    }),
  ]),
  scenario('V9', 'refuses the same media type in two lines', [
    step('request_not_coverable', { headers: append(['Content-Type', 'application/json']) }),
  ]),
  scenario('V9', 'refuses a second media type whose line is empty', [
    step('request_not_coverable', { headers: append(['CONTENT-TYPE', '']) }),
  ]),
  ...[
    'multipart/form-data',
    'multipart/mixed',
    'application/json; charset=utf-8',
    'Application/JSON',
    'json',
    '',
  ].map((contentType) =>
    scenario('V10', `cannot be configured for the media type ${JSON.stringify(contentType)}`, [], {
      verifier: { contentType },
      expect: 'refused',
    }),
  ),
  mediaType('request_not_coverable', 'a charset without its hyphen', 'application/json; charset=utf8'),
  mediaType('ok', 'a space and a tab after the parameter', 'application/json; charset=utf-8 \t'),
  mediaType(
    'request_not_coverable',
    'a form feed after the parameter',
    'application/json; charset=utf-8\x0c',
  ),
  scenario('V11', 'takes no other header for a content coding', [
    step('ok', { headers: append(['Content-Language', 'gzip']) }),
  ]),
  coding('request_not_coverable', 'a vertical tab after identity', 'identity\x0b'),
  coding('request_not_coverable', 'a form feed before identity', '\x0cidentity'),
  scenario('V11', 'judges no Transfer-Encoding', [
    step('ok', { headers: append(['Transfer-Encoding', 'gzip, chunked']) }),
  ]),
  scenario('V16', 'accepts a header twice that it does not cover', [
    step('ok', {
      headers: append(['x-request-id', '1'], ['x-request-id', '2'], ['accept', 'a'], ['accept', 'b']),
    }),
  ]),
  coding('request_not_coverable', 'an empty content coding', ''),
  coding('request_not_coverable', 'identity after gzip in one line', 'gzip, identity'),
  coding('request_not_coverable', 'identity after gzip in a second header', 'gzip', 'identity'),
  coding('request_not_coverable', 'identity twice in one line', 'identity, identity'),
  coding('request_not_coverable', 'a content coding that only begins like identity', 'identity2'),
  coding('request_not_coverable', 'a content coding that only ends like identity', 'x-identity'),
  coding('request_not_coverable', 'a content coding with a parameter', 'identity;q=1'),
  coding('request_not_coverable', 'a no-break space after identity', 'identity\xa0'),
  coding('ok', 'spaces and tabs around identity', ' \tidentity \t'),
  coding('ok', 'identity in two lines', 'identity', 'IDENTITY'),
  coding('ok', 'the content coding identity', 'identity'),
  coding('ok', 'the content coding identity in capitals', 'Identity'),
  coding('request_not_coverable', 'the content coding gzip', 'gzip'),
  coding('request_not_coverable', 'the content coding br', 'br'),
  coding('request_not_coverable', 'gzip after identity in one line', 'identity, gzip'),
  coding('request_not_coverable', 'gzip after identity in a second header', 'identity', 'gzip'),
];
