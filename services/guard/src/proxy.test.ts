import { headerOf, openGuardWorld } from '@ori/test-env/guard-world';
import { expect, it } from 'vitest';

const CALL = { path: '/api/%2e/in%20voke;a=b', body: '{"prompt":"hé"}', user: 'user_ada' };

it('passes a proven request on byte for byte, with the caller as headers, once', async () => {
  await using world = await openGuardWorld();
  const request = world.signed({ ...CALL, lines: 'X-Own: a\r\nX-Own: b\r\n' });
  const answer = await world.raw(request);
  expect(answer).toMatchObject({ status: 200, body: 'user_ada' });
  const [seen] = world.seen;
  expect(seen).toMatchObject({ method: 'POST', url: CALL.path });
  expect(seen?.body.toString()).toBe(CALL.body);
  const headers = seen ?? { rawHeaders: [] };
  expect(headerOf(headers, 'x-ori-verified-user')).toBe('user_ada');
  expect(headerOf(headers, 'x-ori-verified-intern')).toBe('int_guarded');
  expect(headerOf(headers, 'x-ori-verified-issued-at')).toMatch(/^\d{10}$/);
  expect(headerOf(headers, 'x-ori-verified-nonce')).toMatch(/^[\w-]{22}$/);
  expect(headerOf(headers, 'x-own')).toBe('2 values');
  expect(headers.rawHeaders.join()).not.toContain('invoke');
  const again = await world.raw(request);
  expect(again.status).toBe(401);
  expect(JSON.parse(again.body).error.code).toBe('nonce_replayed');
  expect(world.seen).toHaveLength(1);
});
