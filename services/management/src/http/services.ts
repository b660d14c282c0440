import type { KekRing } from '@ori/sealing/kek-ring';
import type { Database } from '@ori/store/database';
import type { PatternCompiler } from '../guardrails/pattern-compiler.ts';

export interface Services {
  /** The database, or the transaction in which the operation runs. */
  readonly db: Database;
  /** Seals provider keys, and answers that are kept. */
  readonly ring: KekRing;
  readonly patterns: PatternCompiler;
  /** The maximum total size of an account's guardrails, as JSON. */
  readonly guardrailBytesMax: number;
}
