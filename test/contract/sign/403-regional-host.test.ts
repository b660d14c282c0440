import { expect, test } from 'vitest';
import { expectRefusal } from '../refusal.ts';
import { useSignerWorld } from '../signer-world.ts';

const world = await useSignerWorld({ environment: { REGIONAL_HOSTS: 'eu.api.ori.test, us.api.ori.test' } });

test('a request to a regional hostname is refused before the bearer is checked', async () => {
  for (const bearer of [null, await world.issuer.token()]) {
    const answer = await world.sign({ bearer, headers: { host: 'US.api.ori.test:443' } });
    expectRefusal(answer, { status: 403, reason: 'regional_host_refused' });
  }
  expect((await world.sign({ headers: { host: 'xeu.api.ori.test' } })).status).toBe(200);
});
