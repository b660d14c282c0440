import type { CredentialRow } from '@ori/store/byok/change-credential';
import type { ByokCredential } from './shape.ts';

/** The columns that are not shown. A column that is neither here nor in the shape is a compile error. */
const HIDDEN = {
  organization_id: undefined,
  sealed_key: undefined,
  key_region: undefined,
  disabled_by_operator: undefined,
} satisfies Record<Exclude<keyof CredentialRow, keyof ByokCredential>, undefined>;

export function renderCredential(row: CredentialRow): ByokCredential {
  return { ...row, ...HIDDEN, created_at: row.created_at.toISOString() };
}
