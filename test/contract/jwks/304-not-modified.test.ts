import { expect, test } from 'vitest';
import { useSignerWorld } from '../signer-world.ts';

const world = await useSignerWorld();
const path = `/v1/interns/${world.tenants.internId}/daemon/jwks.json`;
const { headers } = await world.request({ path });
const etag = headers['etag'] ?? '';

test.each([etag, `W/${etag}`, `"other", ${etag}`, '*'])(
  'a client that has the set (%s) gets 304',
  async (tag) => {
    const answer = await world.request({ path, headers: { 'if-none-match': tag } });
    expect(answer).toMatchObject({ status: 304, text: '' });
    expect(answer.headers).toMatchObject({ etag, 'cache-control': 'public, max-age=60' });
  },
);

test.each(['"other"', etag.slice(1, -1), ''])('a client that has another set (%s) gets it', async (tag) => {
  expect((await world.request({ path, headers: { 'if-none-match': tag } })).status).toBe(200);
});
