import { credentialContext } from '../../sealing/credential-context.ts';
import type { KekOwner } from '../../sealing/kek-ring.ts';
import type { SealContext } from '../../sealing/seal.ts';
import { seedContext } from '../../sealing/seed-context.ts';

/** A table with a column of sealed texts, whose rows belong to what `holder` names. */
interface SealedTable {
  readonly table: string;
  readonly column: string;
  readonly idType: 'text' | 'uuid';
  readonly holder: string;
  /** The context that the text of a row is sealed to. */
  contextOf(row: { readonly id: string; readonly holder: string }): SealContext;
}

/** What the KEKs of each service seal. */
export const SEALED_TABLES: Readonly<Record<KekOwner, SealedTable>> = {
  signer: {
    table: 'signing_keys',
    column: 'sealed_seed',
    idType: 'text',
    holder: 'intern_id',
    contextOf: ({ id, holder }) => seedContext({ id, internId: holder }),
  },
  management: {
    table: 'byok_credentials',
    column: 'sealed_key',
    idType: 'uuid',
    holder: 'organization_id',
    contextOf: ({ id, holder }) => credentialContext({ id, organization_id: holder }),
  },
};
