import { expect, test } from 'vitest';
import { expectRefusal } from '../refusal.ts';
import { useSignerWorld } from '../signer-world.ts';

const world = await useSignerWorld({ environment: { REGIONAL_HOSTS: 'eu.api.ori.test, us.api.ori.test' } });

test.each([
  'eu.api.ori.test',
  'us.api.ori.test:443',
  'EU.API.ori.test',
  'eu.api.ori.test.',
  'eu.api.ori.test.:8080',
])('a request to %s is refused before the bearer is checked', async (host) => {
  for (const bearer of [null, await world.issuer.token()]) {
    const answer = await world.sign({ bearer, headers: { host } });
    expectRefusal(answer, { status: 403, reason: 'regional_host_refused' });
  }
});

test.each(['api.ori.test', 'xeu.api.ori.test', 'eu.api.ori.test.evil.test', '127.0.0.1'])(
  'a request to %s is not refused',
  async (host) => {
    expect((await world.sign({ headers: { host } })).status).toBe(200);
  },
);
