import type { CredentialRow } from '@ori/store';
import type { ByokCredential } from './shape.ts';

/** The columns that are not shown. One that is neither here nor in the shape does not compile. */
const HIDDEN = { organization_id: undefined, sealed_key: undefined, key_region: undefined } satisfies Record<
  Exclude<keyof CredentialRow, keyof ByokCredential>,
  undefined
>;

/** A credential as it is shown: without what is sealed. */
export function renderCredential(row: CredentialRow): ByokCredential {
  return { ...row, ...HIDDEN, created_at: row.created_at.toISOString() };
}
