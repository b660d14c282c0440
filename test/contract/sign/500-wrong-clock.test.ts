import { expect, test } from 'vitest';
import { expectRefusal } from '../refusal.ts';
import { startSignerWorld } from '../signer-world.ts';

test('a signer with a wrong clock signs nothing, charges nothing, and reports it', async () => {
  let aheadMs = 0;
  await using world = await startSignerWorld({ parts: { now: () => Date.now() + aheadMs } });
  expect((await world.sign()).status).toBe(200);
  const before = await world.turnsUsed();
  aheadMs = 1500;
  const clock = async () => (JSON.parse((await world.page('/readyz')).text) as { checks: object }).checks;
  await expect.poll(clock).toMatchObject({ clock: 'failing: clock_wrong' });
  expectRefusal(await world.sign(), { status: 500, reason: 'internal_error', retryable: true });
  expect(await world.turnsUsed()).toEqual(before);
  aheadMs = 0;
  await world.ready();
  expect((await world.sign()).status).toBe(200);
});
