import { createRing } from '@ori/test-env/scenario';
import { expect, it } from 'vitest';
import { KekRing } from '../../sealing/kek-ring.ts';
import { open, seal } from '../../sealing/seal.ts';
import { RESEAL_BATCH, resealRows } from './reseal-rows.ts';

const contextOf = (id: string) => ({ table: 't', column: 'c', row: id });

/** Rows in memory, read in batches like a table. */
async function createRows(count: number, ring: KekRing) {
  const texts = new Map<string, string>();
  for (let index = 0; index < count; index++) {
    const id = String(index).padStart(5, '0');
    texts.set(id, await seal(ring, Buffer.from(id), contextOf(id)));
  }
  return {
    texts,
    next: async (after = '') =>
      [...texts]
        .filter(([id]) => id > after)
        .slice(0, RESEAL_BATCH)
        .map(([id, sealed]) => ({ id, sealed, context: contextOf(id) })),
    count: async () => ({ total: texts.size, fresh: 0 }),
    replace: async (fresh: readonly { id: string; fresh: string }[]) => {
      for (const { id, fresh: text } of fresh) texts.set(id, text);
    },
  };
}

it.each([0, 1000, 1001, 2001])('reads each of %i rows once, batch by batch', async (count) => {
  const [former, next] = [createRing(), createRing()];
  const rows = await createRows(count, former);
  const ring = new KekRing(new Map([next, former].map(({ primary }) => [primary.kid, primary.key])));
  const seen: number[] = [];
  const report = await resealRows(rows, ring, ({ done }) => seen.push(done));
  expect(report).toEqual({ resealed: count, kept: 0, failed: [] });
  expect(seen.at(-1)).toBe(count);
  for (const [id, sealed] of rows.texts) {
    expect(Buffer.from(await open(next, sealed, contextOf(id))).toString()).toBe(id);
  }
  expect(await resealRows(rows, ring)).toEqual({ resealed: 0, kept: count, failed: [] });
});

it('does not change a text that was moved to another row, and reports the row', async () => {
  const [former, next] = [createRing(), createRing()];
  const rows = await createRows(3, former);
  rows.texts.set('00001', rows.texts.get('00002') ?? '');
  const ring = new KekRing(new Map([next, former].map(({ primary }) => [primary.kid, primary.key])));
  expect(await resealRows(rows, ring)).toEqual({ resealed: 2, kept: 0, failed: ['00001'] });
});
