import { expect, test } from 'vitest';
import { expectRefusal } from '../refusal.ts';
import { useSignerWorld } from '../signer-world.ts';

const world = await useSignerWorld({ environment: { REGIONAL_HOSTS: 'eu.api.ori.test, us.api.ori.test' } });
const daemon = `/v1/interns/${world.tenants.internId}/daemon`;
const metadata = '/.well-known/oauth-protected-resource/v1';

test.each([
  ...['/', '/v1', '/v1/interns', '/.well-known/oauth-protected-resource', `${metadata}/`],
  ...['/metrics', '/livez', '/readyz', '/%', '/%ff', '//', '/..', '/constructor'],
])('%s is not found, with any method', async (path) => {
  for (const method of ['GET', 'POST', 'OPTIONS']) {
    expectRefusal(await world.request({ path, method }), { status: 404, reason: 'not_found' });
  }
});

test.each([
  ...['int.7', '_x', 'x'.repeat(129), '%ff', '%', 'a%2Fb', '%00'].map(
    (id) => `/v1/interns/${id}/daemon/jwks.json`,
  ),
  ...['jwks', 'jwks.json/', 'JWKS.json', 'jwks%2Ejson'].map((name) => `${daemon}/${name}`),
])('no key set is at %s', async (path) => {
  const answer = await world.request({ path });
  expectRefusal(answer, { status: 404, reason: 'not_found' });
  expect(answer.headers['etag']).toBeUndefined();
});

test.each([
  [`${daemon}/sign`, 'POST', ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']],
  [`${daemon}/jwks.json`, 'GET, HEAD', ['POST', 'PUT', 'DELETE', 'OPTIONS']],
  [metadata, 'GET, HEAD', ['POST', 'OPTIONS']],
])('405: the methods of %s are %s', async (path, allow, others) => {
  const headers = { authorization: `Bearer ${await world.token()}` };
  for (const method of others) {
    const answer = await world.request({ path, method, headers });
    expectRefusal(answer, { status: 405 });
    expect(answer.headers['allow']).toBe(allow);
  }
});

test('405: HEAD is not a method of a request to sign either, and has no body', async () => {
  const answer = await world.sign({ method: 'HEAD' });
  expect(answer).toMatchObject({ status: 405, text: '', headers: { allow: 'POST' } });
});

test('an intern operation is refused on a regional hostname, before the bearer is checked', async () => {
  const refused = { status: 403, reason: 'regional_host_refused' };
  for (const bearer of [null, await world.token()])
    expectRefusal(await world.sign({ bearer, headers: { host: 'US.api.ori.test:443' } }), refused);
  expect((await world.sign({ headers: { host: 'xeu.api.ori.test' } })).status).toBe(200);
  const headers = { host: 'eu.api.ori.test' };
  expectRefusal(await world.request({ path: `${daemon}/jwks.json`, headers }), refused);
  expect((await world.request({ path: metadata, headers })).status).toBe(200);
});
