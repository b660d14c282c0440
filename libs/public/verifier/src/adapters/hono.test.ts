import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { createLocalKeySet } from '../keys/local.ts';
import type { ReplayStore } from '../replay/replay-store.ts';
import { createTestReplayStore, createTestSigner } from '../testing.ts';
import { createVerifier } from '../verifier.ts';
import { requireProof } from './hono.ts';

test('a handler sees the variables of the application, and their types', async () => {
  const signer = createTestSigner({ internId: 'int_1' });
  const store = createTestReplayStore();
  // A store as an author writes it: TypeScript widens what the async method returns to string.
  const replay: ReplayStore = {
    attach: (policy) => store.attach?.(policy),
    async spend(spend) {
      if ((await store.spend(spend)) === 'spent') return 'spent';
      throw new TypeError('not spent');
    },
  };
  const verifier = createVerifier({ internId: 'int_1', keys: createLocalKeySet(signer.jwks), replay });
  const app = new Hono<{ Variables: { tenant: string } }>();
  app.use(async (c, next) => {
    c.set('tenant', 'acme');
    await next();
  });
  app.post(
    '/api/invoke',
    requireProof(verifier, { bodyBytesMax: 1000 }, (c, { proof }) =>
      c.json({ user: proof.user, tenant: c.get('tenant').toUpperCase() }),
    ),
  );
  const headers = { ...signer.sign({ path: '/api/invoke', body: '{}' }), 'content-type': 'application/json' };
  const response = await app.request('/api/invoke', { method: 'POST', headers, body: '{}' });
  expect(await response.json()).toEqual({ user: 'user_test', tenant: 'ACME' });
});

test('with answers, a handler behind middleware may set the response and return it', async () => {
  const signer = createTestSigner({ internId: 'int_1' });
  const [keys, replay] = [createLocalKeySet(signer.jwks), createTestReplayStore()];
  const verifier = createVerifier({ internId: 'int_1', keys, replay, answers: true });
  const app = new Hono().use((_c, next) => next());
  const guard = requireProof(verifier, { bodyBytesMax: 1000 }, (c) => {
    c.res = new Response('set');
    return c.res;
  });
  app.post('/a', guard).post('/.well-known/ori/calls/:nonce', guard);
  const send = (path: string, body: string, proof: object) => {
    const headers = { 'content-type': 'application/json', ...proof };
    return app.request(path, { method: 'POST', headers, body });
  };
  const proof = signer.sign({ path: '/a', body: '{}' });
  const path = `/.well-known/ori/calls/${proof['x-ori-invoke-nonce']}`;
  expect(await (await send('/a', '{}', proof)).text()).toBe('set');
  expect(await (await send(path, '', signer.sign({ path, body: '' }))).text()).toBe('set');
});

test.each(['json', 'text', 'arrayBuffer', 'blob', 'formData'] as const)(
  'behind the guard, c.req.%s() has the bytes that were signed',
  async (method) => {
    const signer = createTestSigner({ internId: 'int_1' });
    const keys = createLocalKeySet(signer.jwks);
    const verifier = createVerifier({ internId: 'int_1', keys, replay: createTestReplayStore() });
    const app = new Hono();
    app.onError((error, c) => c.text(error.name, 500));
    app.post(
      '/a',
      requireProof(verifier, { bodyBytesMax: 1000 }, async (c) => {
        const value = await c.req[method]();
        return c.text(
          method === 'json' || method === 'text'
            ? JSON.stringify(value)
            : await new Response(value as Blob).text(),
        );
      }),
    );
    const body = '{"a":1}';
    const headers = { ...signer.sign({ path: '/a', body }), 'content-type': 'application/json' };
    const response = await app.request('/a', { method: 'POST', headers, body });
    const expected = {
      json: body,
      text: JSON.stringify(body),
      arrayBuffer: body,
      blob: body,
      formData: 'TypeError',
    };
    expect(await response.text()).toBe(expected[method]);
  },
);
