import { generateKekRing } from '@ori/sealing/change-kek-ring';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { watchKeks } from './kek-watch.ts';

const ringOf = () => parseKekRing(generateKekRing('signer'));

function world(inUse: (held: string) => readonly string[], ring = ringOf()) {
  const registry = new Registry();
  const state = { now: 0 };
  const held = ring.primary.kid;
  const watch = watchKeks({ inUse: async () => inUse(held), ring, registry, now: () => state.now });
  const missing = async () => Number(/^signer_keks_missing (\S+)$/m.exec(await registry.metrics())?.[1]);
  return { state, ring, held, watch, missing };
}

test('a ring that holds none of the KEKs in use fails the check, and one that lacks some does not', async () => {
  let inUse: string[] = [];
  const { state, held, watch, missing } = world(() => inUse);
  await watch.check();
  inUse = [held, 'signer-fedcba9876543210'];
  state.now += 5000;
  await watch.check();
  expect(await missing()).toBe(1);
  inUse = ['signer-fedcba9876543210'];
  state.now += 5000;
  await expect(watch.check()).rejects.toMatchObject({ code: 'no_kek_in_use' });
  expect(await missing()).toBe(1);
  inUse = [held];
  // A clock that was ahead is set back.
  state.now -= 3_600_000;
  await watch.check();
});

test('another ring is judged at once', async () => {
  const other = ringOf();
  const { ring, watch } = world(() => [other.primary.kid]);
  await expect(watch.check()).rejects.toMatchObject({ code: 'no_kek_in_use' });
  ring.replaceBy(other);
  await watch.check();
});

test('a ring that lost a KEK is not judged by what was sealed before', async () => {
  const next = ringOf();
  let sealedUnder = '';
  let meanwhile = () => {};
  const { ring, held, watch, missing } = world(() => {
    const answer = [sealedUnder];
    meanwhile();
    return answer;
  });
  sealedUnder = held;
  await watch.check();
  sealedUnder = next.primary.kid;
  ring.replaceBy(next);
  await watch.check();

  // The same while an answer is on its way.
  const last = ringOf();
  meanwhile = () => {
    meanwhile = () => {};
    sealedUnder = last.primary.kid;
    ring.replaceBy(last);
  };
  ring.replaceBy(parseKekRing(generateKekRing('signer')));
  await watch.check();
  expect(await missing()).toBe(0);
});

test('while the database does not answer, the last comparison counts', async () => {
  const answers: (readonly string[] | undefined)[] = [undefined, ['signer-fedcba9876543210'], undefined];
  const { state, watch, missing } = world(() => {
    const answer = answers.shift();
    if (answer === undefined) throw new Error('no answer');
    return answer;
  });
  await watch.check();
  await expect(watch.check()).rejects.toMatchObject({ code: 'no_kek_in_use' });
  expect(answers).toHaveLength(1);
  state.now += 5000;
  await expect(watch.check()).rejects.toMatchObject({ code: 'no_kek_in_use' });
  expect(await missing()).toBeGreaterThan(0);
});

test('the database is asked once in five seconds', async () => {
  let asked = 0;
  const { state, held, watch, missing } = world((held) => {
    asked += 1;
    return [held];
  });
  state.now = 5000;
  for (const [after, times] of [
    [0, 1],
    [4999, 1],
    [1, 2],
  ] as const) {
    state.now += after;
    await watch.check();
    expect(await missing()).toBe(0);
    expect([held, asked]).toEqual([held, times]);
  }
});

test('what is missing is not known before the database has answered', async () => {
  const { missing } = world(() => {
    throw new Error('no answer');
  });
  expect(await missing()).toBeNaN();
});
