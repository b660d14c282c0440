/**
 * The group roles that `migrate` creates and grants to. Each service uses exactly one of the first two. An operator's
 * login is a member of `ori_operator`; a member of `ori_auditor` can only read the audit.
 */
export type StoreRole = 'ori_signer' | 'ori_management' | 'ori_operator' | 'ori_auditor';

export const SERVICE_ROLES: readonly StoreRole[] = ['ori_signer', 'ori_management'];
export const STORE_ROLES: readonly StoreRole[] = [...SERVICE_ROLES, 'ori_operator', 'ori_auditor'];

export function requireStoreRole(role: string): StoreRole {
  const known = STORE_ROLES.find((candidate) => candidate === role);
  if (known === undefined) throw new TypeError(`role: expected one of ${STORE_ROLES.join(', ')}`);
  return known;
}
