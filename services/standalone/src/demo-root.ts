import type { Role } from '@ori/proof/statements';
import { createRoleKey, makeDelegation } from '@ori/sealing/new-roles';
import { publicJwkOf } from '@ori/sealing/roles';
import { createKeySetRoles } from '@ori/signer/freshness';

const LIFETIME_SECONDS = 10 * 365 * 86_400;

/** A root that lives as long as the process, with both roles: what an operator makes with `ori-admin root`. */
export function createDemoRoot(baseUrl: string) {
  const [root, keys, freshness] = [createRoleKey(), createRoleKey(), createRoleKey()];
  const notBefore = Math.floor(Date.now() / 1000);
  const expiresAt = notBefore + LIFETIME_SECONDS;
  const delegate = (role: Role, { publicKey }: typeof keys) =>
    makeDelegation(root, { baseUrl, role, publicKey, notBefore, expiresAt });
  const delegations = [delegate('keys', keys), delegate('freshness', freshness)];
  return {
    /** For the sample daemon to pin. */
    jwk: publicJwkOf(root),
    stater: { baseUrl, publicKey: keys.publicKey, sign: keys.sign },
    roles: createKeySetRoles({ baseUrl }, () => ({ key: freshness, delegations })),
  };
}
