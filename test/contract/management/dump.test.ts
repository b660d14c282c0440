import { randomBytes } from 'node:crypto';
import { addSigningKey } from '@ori/administration/signing-keys';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { createTestCredential, startManagementWorld } from './world.ts';

it('a dump of the database contains no provider key, API key or signing seed', async () => {
  await using world = await startManagementWorld();
  const { ours, store, ring } = world;
  const providerKey = `sk-proj-${randomBytes(24).toString('base64url')}`;
  const id = await createTestCredential(store, ours);
  expect(
    (await world.call({ method: 'PATCH', path: `/byok/${id}`, json: { key: providerKey } })).status,
  ).toBe(200);
  const seed = randomBytes(32);
  await addSigningKey(store, {
    internId: ours.internId,
    seed: Uint8Array.from(seed),
    sealer: ring,
  });

  const dump = await dumpOf(store.kysely);
  expect(dump).toContain(ours.organizationId);
  for (const secret of [providerKey, ours.apiKey, ours.internKey, ours.managementKey, seed]) {
    for (const form of formsOf(Buffer.from(secret))) expect(dump).not.toContain(form);
  }
});

/** Every row of every table, as text; bytes in hex. */
async function dumpOf(db: Parameters<ReturnType<typeof sql>['execute']>[0]): Promise<string> {
  const tables = await sql<{ name: string }>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`.execute(
    db,
  );
  const texts: string[] = [];
  for (const { name } of tables.rows) {
    const { rows } = await sql<{ text: string }>`select t::text from ${sql.table(name)} t`.execute(db);
    texts.push(...rows.map((row) => row.text ?? Object.values(row).join()));
  }
  return texts.join('\n');
}

function formsOf(secret: Buffer): string[] {
  const whole = secret.toString('base64').replace(/=*$/, '');
  return [secret.toString('latin1'), secret.toString('hex'), whole, secret.toString('base64url')];
}
