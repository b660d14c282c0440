import { afterEach, expect, test, vi } from 'vitest';
import { startWorld, type World } from '../env/world.ts';

/** The maximum staleness of an issuer's keys, and how long the facts of a token are cached. */
const KEYS_STALE_SECONDS_MAX = 600;
const TOKEN_MEMORY_SECONDS = 60;

afterEach(() => void vi.restoreAllMocks());

test('keys of an unreachable issuer are used for ten minutes, then nothing is signed until it is back', async () => {
  const clock = forwardClock();
  await using world = await startWorld();
  expect(await statusOf(world)).toBe(200);
  await world.issuer.stop();

  clock.advance(KEYS_STALE_SECONDS_MAX - 10);
  expect(await statusOf(world)).toBe(200);
  const seen = await world.token();
  expect(await statusOf(world, seen)).toBe(200);

  clock.advance(20);
  expect(await statusOf(world)).toBe(500);

  clock.advance(TOKEN_MEMORY_SECONDS);
  expect(await statusOf(world, seen)).toBe(500);

  await world.issuer.start();
  clock.advance(TOKEN_MEMORY_SECONDS);
  expect(await statusOf(world)).toBe(200);
  expect(await statusOf(world, seen)).toBe(200);
});

async function statusOf(world: World, bearer?: string): Promise<number> {
  return (await world.sign({ ...(bearer && { bearer }) })).status;
}

/** Advances the process's monotonic clock, which all caches of the signer use, on demand. */
function forwardClock(): { advance(seconds: number): void } {
  const real = performance.now.bind(performance);
  let aheadMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => real() + aheadMs);
  return {
    advance(seconds) {
      aheadMs += seconds * 1000;
    },
  };
}
