/** The outcome of a request-target at the gateway. */
export type Fate =
  /** It arrives byte for byte. */
  | 'passes'
  /** nginx cannot decode it and answers 400. */
  | 'refused'
  /** It leads above the root, which nginx refuses. Below a prefix it does not. */
  | 'above root';

export interface PathForm {
  /** One character per byte. */
  readonly target: string;
  readonly fate: Fate;
}

const PASSING = [
  '/',
  '//',
  '/api/invoke',
  '//api/invoke',
  '/api//invoke',
  '/api/./invoke',
  '/api/../api/invoke',
  '/api/x/../invoke',
  '/api/..;/invoke',
  '/api/%2e/invoke',
  '/api/%2e%2e/invoke',
  '/api/.%2e/invoke',
  '/api/%252e%252e/invoke',
  '/api%2Finvoke',
  '/%2Fapi/invoke',
  '/%61pi/invoke',
  '/api/%7Euser',
  '/api/~user',
  '/api/invoke;v=1',
  '/api/;/invoke',
  '/api|invoke',
  '/api\\invoke',
  '/api/..\\invoke',
  '/api/"invoke"',
  "/api/'invoke'",
  '/api/<invoke>',
  '/api/{invoke}',
  '/api/^`invoke',
  "/!$&'()*+,;=:@",
  '/@api/invoke',
  '/api/a%2Bb',
  '/api/a%20b',
  '/api/%25',
  '/api/a%0ab',
  '/api/a%0D%0Ab',
  '/api/a%3Fb',
  '/api/%c3%a9',
  '/api/%ff',
  '/api/%E2%82%AC',
  '/api/\u00c3\u00a9',
  '/api/\u00ff',
  '/api/invoke?',
  '/api/invoke?a=1',
  '/api/invoke?a=//../%2e%2E',
  '/-/gateway',
  `/${'x'.repeat(2047)}`,
  `/${'x'.repeat(2048)}`,
  `/${'%2e'.repeat(682)}x`,
  `/${'/x'.repeat(4000)}`,
];

const REFUSED = [
  '/api/invoke%',
  '/api/%00',
  '/api/%zz',
  '/api/%4',
  '/api/in voke',
  '/api/in\u0001voke',
  '/api/in\u0000voke',
  'api/invoke',
  '*',
  '?a=1',
  `/${'x'.repeat(20_000)}`,
];

const ABOVE_ROOT = ['/..', '/../api/invoke', '/api/../../invoke', '/api/%2e%2e/%2e%2e/invoke'];

export const PATH_FORMS: readonly PathForm[] = [
  ...PASSING.map((target) => ({ target, fate: 'passes' as const })),
  ...REFUSED.map((target) => ({ target, fate: 'refused' as const })),
  ...ABOVE_ROOT.map((target) => ({ target, fate: 'above root' as const })),
];

/** Absolute forms, and the paths that RFC 9112 (section 3.2.2) derives from them. */
export const ABSOLUTE_FORMS: readonly (readonly [target: string, path: string])[] = [
  ['http://localhost/api/invoke', '/api/invoke'],
  ['HTTP://LOCALHOST/api/invoke', '/api/invoke'],
  ['http://localhost:8080//api/%2e/invoke', '//api/%2e/invoke'],
  ['http://other.example/api/%41', '/api/%41'],
  ['https://localhost/api/invoke?a=1', '/api/invoke?a=1'],
  ['http://localhost', '/'],
];

/** Whether a proof can cover it (SPEC.md, section 1). */
export function isSignable(target: string): boolean {
  return /^\/[\x21-\x7e]{0,2047}$/.test(target) && !/[?#]/.test(target);
}
