import type { StoreRole } from './privileges/grant.ts';

export const SERVICE_ROLES: readonly StoreRole[] = ['ori_signer', 'ori_management'];
export const STORE_ROLES: readonly StoreRole[] = [...SERVICE_ROLES, 'ori_operator', 'ori_auditor'];

export function requireStoreRole(role: string): StoreRole {
  const known = STORE_ROLES.find((candidate) => candidate === role);
  if (known === undefined) throw new TypeError(`role: expected one of ${STORE_ROLES.join(', ')}`);
  return known;
}
