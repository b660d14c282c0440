import { test } from 'vitest';
import { expectRefusal } from '../refusal.ts';
import { useSignerWorld } from '../signer-world.ts';

const world = await useSignerWorld();

test.each([
  '/',
  '/v1',
  '/v1/interns',
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-protected-resource/v1/',
  '/metrics',
  '/livez',
  '/readyz',
  '/%',
  '/%ff',
  '//',
  '/..',
  '/constructor',
])('%s is not found, with any method', async (path) => {
  for (const method of ['GET', 'POST', 'OPTIONS']) {
    expectRefusal(await world.request({ path, method }), { status: 404, reason: 'not_found' });
  }
});
