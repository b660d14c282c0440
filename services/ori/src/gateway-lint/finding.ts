import type { RuleId } from './advice.ts';
import type { Directive } from './nginx/parser.ts';
import type { Server } from './routes.ts';

/** A construct that changes, or can change, a signed request. */
export interface Finding {
  readonly rule: RuleId;
  readonly directive: Directive;
}

/** Finds violations of one rule, or of related rules, in a server. Depends only on the configuration. */
export type Rule = (server: Server) => Iterable<Finding>;
