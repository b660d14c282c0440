import { turnKey } from '@ori/turns/limiter';
import { issuedKey } from '@ori/verifier/redis';
import { expect } from 'vitest';
import type { Reply } from '../env/http-client.ts';
import type { MatrixWorld } from './matrix-world.ts';

/** The turns charged so far. */
export async function turnsCharged({ redisDirectly, world }: MatrixWorld): Promise<number> {
  return Number((await redisDirectly.get(turnKey('user', world.demo.userId))) ?? 0);
}

/** Checks the traces of every proof: a reserved nonce, a charged turn, and one audit line. */
export async function expectEveryCheckBehind(
  on: MatrixWorld,
  replies: readonly Reply[],
  chargedBefore: number | undefined,
): Promise<void> {
  const proofs = replies.filter(({ status }) => status === 200);
  const ids = proofs.map(({ headers }) => String(headers['x-request-id']));
  await expect.poll(() => linesOf(on, ids)).toEqual(ids.map((id) => [id, 1]));

  const nonces = proofs.map(({ text }) => String(JSON.parse(text)['x-ori-invoke-nonce']));
  expect(new Set(nonces).size).toBe(nonces.length);
  // A Redis that restarted empty has lost them.
  if (chargedBefore === undefined) return;
  const keys = nonces.map((nonce) => issuedKey(on.world.demo.internId, nonce));
  if (keys.length > 0) expect(await on.redisDirectly.exists(...keys)).toBe(keys.length);
  const charged = (await turnsCharged(on)) - chargedBefore;
  expect(charged).toBeGreaterThanOrEqual(proofs.length);
  // A turn whose response was lost stays charged, once; the request got a 500.
  const attempts = replies.filter(({ status }) => status === 200 || status === 500);
  expect(charged).toBeLessThanOrEqual(attempts.length);
}

/** The number of audit lines of each request. */
async function linesOf({ world }: MatrixWorld, ids: readonly string[]): Promise<[string, number][]> {
  const counts = new Map<unknown, number>();
  for (const line of (await world.audit()).split('\n').filter((each) => each.endsWith('}'))) {
    const { requestId } = JSON.parse(line);
    counts.set(requestId, (counts.get(requestId) ?? 0) + 1);
  }
  return ids.map((id) => [id, counts.get(id) ?? 0]);
}
