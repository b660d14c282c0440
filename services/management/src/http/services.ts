import type { KekRing } from '@ori/sealing/kek-ring';
import type { ManagementQueries, OperationQueries } from '@ori/store/management';
import type { PatternCompiler } from '../guardrails/pattern-compiler.ts';

export interface Services {
  readonly store: OperationQueries;
  /** Seals provider keys. */
  readonly ring: KekRing;
  readonly patterns: PatternCompiler;
  /** The maximum total size of an account's guardrails, as JSON. */
  readonly guardrailBytesMax: number;
}

export type RunningServices = Services & { readonly store: ManagementQueries };
