import type { CredentialVault } from '@ori/byok/vault';
import type { ManagementQueries } from '@ori/store';
import type { PatternCompiler } from '../guardrails/pattern-compiler.ts';

/** The dependencies of the operations. */
export interface Services {
  readonly store: ManagementQueries;
  readonly vault: CredentialVault;
  readonly patterns: PatternCompiler;
  /** The maximum total size of an account's guardrails, as JSON. */
  readonly guardrailBytesMax: number;
}
