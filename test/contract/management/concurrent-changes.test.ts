import { open } from '@ori/store/sealing';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { createTestCredential, startManagementWorld } from './world.ts';

const REQUESTS = 400;

it(`${REQUESTS} concurrent changes of one credential leave one of the requested states, with a key that can be opened`, {
  timeout: 120_000,
}, async () => {
  await using world = await startManagementWorld();
  const id = await createTestCredential(world.store, world.ours);
  const keyOf = (n: number) => `sk-concurrent-${String(n).padStart(20, '0')}`;
  const replies = await Promise.all(
    Array.from({ length: REQUESTS }, (_, n) =>
      world.call({
        method: 'PATCH',
        path: `/byok/${id}`,
        // Every tenth request is invalid.
        json: { name: `n${n}`, key: keyOf(n), ...(n % 10 === 0 && { is_fallback: true, is_required: true }) },
      }),
    ),
  );
  const counts: Record<number, number> = {};
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1;
  console.log(`${REQUESTS} concurrent PATCH:`, counts);
  expect(Object.keys(counts).every((status) => ['200', '400', '409'].includes(status))).toBe(true);
  expect(counts[200]).toBeGreaterThan(0);

  const { rows } = await sql<{ name: string; sealed_key: string; label: string }>`
    select name, sealed_key, label from byok_credentials where id = ${id}`.execute(world.store.kysely);
  const winner = Number(rows[0]?.name.slice(1));
  expect(replies[winner]?.status).toBe(200);
  const context = {
    table: 'byok_credentials',
    column: 'sealed_key',
    row: id,
    organizationId: world.ours.organizationId,
  };
  const key = new TextDecoder().decode(await open(world.ring, rows[0]?.sealed_key ?? '', context));
  expect(key).toBe(keyOf(winner));
  expect(rows[0]?.label).toBe(`sk-...${keyOf(winner).slice(-4)}`);
});
