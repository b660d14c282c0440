import { expect, test } from 'vitest';
import { useSignerWorld } from '../signer-world.ts';

const world = await useSignerWorld();
const path = `/v1/interns/${world.tenants.internId}/daemon/jwks.json`;
const { headers } = await world.request({ path });
const etag = headers['etag'] ?? '';

test('a client that has the set gets 304, another one the set', async () => {
  const answer = await world.request({ path, headers: { 'if-none-match': `W/${etag}` } });
  expect(answer).toMatchObject({ status: 304, text: '' });
  expect(answer.headers).toMatchObject({ etag, 'cache-control': 'public, max-age=60' });
  expect((await world.request({ path, headers: { 'if-none-match': '"other"' } })).status).toBe(200);
});
