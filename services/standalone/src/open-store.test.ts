import { Secret } from '@ori/service-kit/secret';
import { expect, it } from 'vitest';
import { createDatabase } from '../../../test/env/postgres.ts';
import { openStore } from './open-store.ts';

async function expectSignerRole(databaseUrl?: Secret): Promise<void> {
  const store = await openStore(databaseUrl);
  try {
    const { kysely } = store.signer;
    expect(await kysely.selectFrom('switches').select('name').execute()).toHaveLength(2);
    const labels = kysely.selectFrom('api_keys').select('label');
    await expect(labels.execute()).rejects.toThrow(/permission denied/);
  } finally {
    await store.close();
  }
}

it('lets the signer work under its own role in the embedded database', () => expectSignerRole());

it('lets the signer work under its own role on a server', async () => {
  await using database = await createDatabase({ migrated: false });
  await expectSignerRole(new Secret(database.url));
});
