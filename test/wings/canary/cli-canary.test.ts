import { afterAll, expect, it } from 'vitest';
import { INTERN_ID, openSignedInWorld, type Scripted } from '../../e2e/cli-world.ts';
import { freePort } from '../../env/ports.ts';

const { world, home } = await openSignedInWorld();
const port = await freePort();
const running = home.start(['canary', INTERN_ID, '--port', String(port)], { stdin: null });
await running.told(/Each scrape of 127\.0\.0\.1:\d+ signs once for int_cli_e2e/);
afterAll(async () => {
  running.child.kill('SIGINT');
  expect((await running.result).exit).toBe(130);
});

const isUp = async () =>
  (await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).includes('\nori_canary_up 1\n');
const refusal = (status: number, reason: string): Scripted => ({
  status,
  body: { error: { code: status, message: 'No.', metadata: { reason, retryable: false } } },
});

it('signs and verifies once at each scrape, each time another body', async () => {
  // Its replay store accepts no proof of its first seconds.
  await expect.poll(isUp).toBe(true);
  world.requests.length = 0;
  for (const _ of [1, 2]) expect(await isUp()).toBe(true);
  const signed = world.requests.filter(({ method }) => method === 'POST').map(({ body }) => body);
  expect(new Set(signed).size).toBe(2);
});

it.each<[string, Scripted[], string]>([
  ['the intern is not found', [refusal(404, 'not_found')], 'intern_not_found'],
  ['signers fail', [refusal(500, 'internal_error')], 'api_failed'],
  ['tokens are refused', [refusal(401, 'x')], 'refused'],
])('is down while %s, and names the reason', async (_, scripted, code) => {
  world.scripted.push(...scripted);
  expect(await isUp()).toBe(false);
  await running.told(new RegExp(`The synthetic signing failed: ${code}\n`));
  expect(await isUp()).toBe(true);
});

it('is down while the published keys do not verify its proof', async () => {
  const { keys } = world.jwks;
  world.jwks.keys.splice(0, 1);
  expect(await isUp()).toBe(false);
  await running.told(/The synthetic signing failed: key_unknown\n/);
  world.jwks.keys.push(...keys);
});
