import type { ManagementQueries } from '@ori/store';
import type { CredentialVault } from '../adapters/credential-vault.ts';
import type { PatternCompiler } from '../adapters/pattern-compiler.ts';

/** What the operations ask the outside. */
export interface Services {
  readonly store: ManagementQueries;
  readonly vault: CredentialVault;
  readonly patterns: PatternCompiler;
}
