import { test } from 'vitest';
import { expectRefusal } from '../refusal.ts';
import { useSignerWorld } from '../signer-world.ts';

const world = await useSignerWorld({ environment: { REGIONAL_HOSTS: 'eu.api.ori.test' } });

test('the set, an intern operation, is refused on a regional hostname', async () => {
  const path = `/v1/interns/${world.tenants.internId}/daemon/jwks.json`;
  const answer = await world.request({ path, headers: { host: 'eu.api.ori.test' } });
  expectRefusal(answer, { status: 403, reason: 'regional_host_refused' });
});
