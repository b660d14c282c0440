import { Secret } from '@ori/runtime/secret';
import type { Database } from '@ori/store/database';
import { createDatabase } from '@ori/test-env/postgres';
import { expect, it } from 'vitest';
import { openStore } from './open-store.ts';

async function expectRoles(databaseUrl?: Secret): Promise<void> {
  const store = await openStore(databaseUrl);
  try {
    const keyOf = ({ kysely }: Database) => kysely.selectFrom('api_keys').select('label').execute();
    const seedOf = ({ kysely }: Database) =>
      kysely.selectFrom('signing_keys').select('sealed_seed').execute();
    expect(await seedOf(store.signer)).toEqual([]);
    await expect(keyOf(store.signer)).rejects.toThrow(/permission denied/);
    expect(await keyOf(store.management)).toEqual([]);
    await expect(seedOf(store.management)).rejects.toThrow(/permission denied/);
  } finally {
    await store.close();
  }
}

it('lets each service work under its own role in the embedded database', () => expectRoles());

it('lets each service work under its own role on a server', async () => {
  await using database = await createDatabase({ migrated: false });
  await expectRoles(new Secret(database.url));
});
