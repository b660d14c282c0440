import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSigningKey, type SigningKey } from '@ori/proof/signing';
import type { Role } from '@ori/proof/statements';
import { generateRoleKey, makeDelegation } from '@ori/sealing/new-roles';
import { openRoleKey, publicJwkOf } from '@ori/sealing/roles';
import type { Room } from './room.ts';

/** The root of a test's deployment, and the keys of its roles. */
export interface WorldRoot {
  /** To pin. */
  readonly jwk: ReturnType<typeof publicJwkOf>;
  readonly key: SigningKey;
  readonly stater: SigningKey & { readonly baseUrl: string };
  readonly freshness: SigningKey;
  readonly delegationsFile: string;
  /** What the signer is configured with. */
  readonly environment: Readonly<Record<string, string>>;
  /** A line of the delegations' file. */
  delegate(role: Role, key: SigningKey, times?: { notBefore?: number; expiresAt?: number }): string;
}

export async function createWorldRoot(room: Pick<Room, 'directory'>, baseUrl: string): Promise<WorldRoot> {
  const key = createSigningKey(crypto.getRandomValues(new Uint8Array(32)));
  const stater = { ...createSigningKey(crypto.getRandomValues(new Uint8Array(32))), baseUrl };
  const freshnessFile = join(room.directory, 'freshness.json');
  const delegationsFile = join(room.directory, 'delegations.jsonl');
  await writeFile(freshnessFile, (await generateRoleKey()).text, { mode: 0o600 });
  const freshness = await openRoleKey({ path: freshnessFile, variable: 'freshness' });
  const now = Math.floor(Date.now() / 1000);
  const delegate: WorldRoot['delegate'] = (role, { publicKey }, times) =>
    `${JSON.stringify(makeDelegation(key, { baseUrl, role, publicKey, notBefore: now - 60, expiresAt: now + 3600, ...times }))}\n`;
  await writeFile(delegationsFile, delegate('keys', stater) + delegate('freshness', freshness));
  const environment = {
    SIGNER_FRESHNESS_KEY_FILE: freshnessFile,
    SIGNER_DELEGATIONS_FILE: delegationsFile,
  };
  return { jwk: publicJwkOf(key), key, stater, freshness, delegationsFile, environment, delegate };
}
