import type { Directive } from './nginx/parser.ts';
import type { Server } from './routes.ts';

/** Every rule. `error`: a proof fails, is spent or is not verified; `warning`: it can, depending on what this configuration does not show. */
export const RULES = {
  'path-replaced': 'error',
  'path-computed': 'error',
  'path-unknown': 'warning',
  'path-rewritten': 'error',
  'path-redirected': 'error',
  'query-set': 'error',
  'method-set': 'error',
  'body-replaced': 'error',
  'body-dropped': 'error',
  'body-length-set': 'error',
  'headers-dropped': 'error',
  'proof-header-set': 'error',
  'content-type-set': 'error',
  'content-encoding-set': 'error',
  'header-aliases': 'warning',
  'invalid-headers-passed': 'warning',
  'sent-twice': 'error',
  'copied-for-authorization': 'warning',
  retried: 'error',
  'error-page-passed-on': 'error',
  'answer-cached': 'error',
  'not-http': 'error',
  'code-changes-request': 'error',
  'code-not-seen': 'warning',
} as const satisfies Record<string, 'error' | 'warning'>;

export type RuleId = keyof typeof RULES;

/** A construct that changes, or can change, a signed request. */
export interface Finding {
  readonly rule: RuleId;
  readonly directive: Directive;
}

/** Finds violations of one rule, or of related rules, in a server. Depends only on the configuration. */
export type Rule = (server: Server) => Iterable<Finding>;
