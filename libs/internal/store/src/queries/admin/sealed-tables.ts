import { credentialContext } from '../../sealing/credential-context.ts';
import type { SealContext } from '../../sealing/seal.ts';
import { seedContext } from '../../sealing/seed-context.ts';

/** A table with a column of sealed texts, whose rows belong to what `holder` names. */
export interface SealedTable {
  readonly table: string;
  readonly column: string;
  readonly idType: 'text' | 'uuid';
  readonly holder: string;
}

export const SEEDS = {
  table: 'signing_keys',
  column: 'sealed_seed',
  idType: 'text',
  holder: 'intern_id',
} as const satisfies SealedTable;

export const PROVIDER_KEYS = {
  table: 'byok_credentials',
  column: 'sealed_key',
  idType: 'uuid',
  holder: 'organization_id',
} as const satisfies SealedTable;

/** The context that the text of a row is sealed to. */
export type ContextOf = (row: { readonly id: string; readonly holder: string }) => SealContext;

export const contextOfSeed: ContextOf = ({ id, holder }) => seedContext({ id, internId: holder });

export const contextOfProviderKey: ContextOf = ({ id, holder }) =>
  credentialContext({ id, organization_id: holder });
