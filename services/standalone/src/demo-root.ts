import type { Role } from '@ori/proof/statements';
import { createRoleKey, makeDelegation } from '@ori/sealing/new-roles';
import { publicJwkOf } from '@ori/sealing/roles';
import { createKeySetRoles, type KeySetRoles } from '@ori/signer/key-set-roles';
import type { KeyStater } from '@ori/store/admin';

/** A root that lives as long as the process, with both roles: what an operator makes with `ori-admin root`. */
export interface DemoRoot {
  /** For the sample daemon to pin. */
  readonly jwk: ReturnType<typeof publicJwkOf>;
  readonly stater: KeyStater;
  readonly roles: KeySetRoles;
}

const LIFETIME_SECONDS = 10 * 365 * 86_400;

export function createDemoRoot(baseUrl: string): DemoRoot {
  const [root, keys, freshness] = [createRoleKey(), createRoleKey(), createRoleKey()];
  const notBefore = Math.floor(Date.now() / 1000);
  const expiresAt = notBefore + LIFETIME_SECONDS;
  const delegate = (role: Role, { publicKey }: typeof keys) =>
    makeDelegation(root, { baseUrl, role, publicKey, notBefore, expiresAt });
  const delegations = [delegate('keys', keys), delegate('freshness', freshness)];
  return {
    jwk: publicJwkOf(root),
    stater: { baseUrl, publicKey: keys.publicKey, sign: keys.sign },
    roles: createKeySetRoles({ baseUrl }, () => ({ key: freshness, delegations })),
  };
}
