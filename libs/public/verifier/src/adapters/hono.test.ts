import { openVerifier } from '@ori/test-env/verifier/open-verifier';
import { type Context, Hono } from 'hono';
import { expect, test } from 'vitest';
import { keepAnswers } from '../answers/keep-answers.ts';
import type { ReplayStore } from '../replay/replay-store.ts';
import { createTestReplayStore } from '../testing/testing.ts';
import { requireProof } from './hono.ts';

test('a handler sees the variables of the application, and their types', async () => {
  const store = createTestReplayStore();
  // A store as an author writes it: TypeScript widens what the async method returns to string.
  const replay: ReplayStore = {
    attach: (policy) => store.attach?.(policy),
    async spend(spend) {
      if ((await store.spend(spend)) === 'spent') return 'spent';
      throw new TypeError('not spent');
    },
  };
  const { signer, verifier } = openVerifier({ replay });
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

/** With answers, behind middleware: what a call of the handler gives, and what a question about it does. */
async function callAndAsk(handler: (c: Context) => Response) {
  const { signer, verifier } = openVerifier({ answers: keepAnswers() });
  const app = new Hono().use((_c, next) => next()).onError((_error, c) => c.text('failed', 500));
  const guard = requireProof(verifier, { bodyBytesMax: 1000 }, handler);
  app.post('/a', guard).post('/.well-known/ori/calls/:nonce', guard);
  const send = (path: string, body: string, proof: object) => {
    const headers = { 'content-type': 'application/json', ...proof };
    return app.request(path, { method: 'POST', headers, body });
  };
  const proof = signer.sign({ path: '/a', body: '{}' });
  const path = `/.well-known/ori/calls/${proof['x-ori-invoke-nonce']}`;
  const answers = [await send('/a', '{}', proof), await send(path, '', signer.sign({ path, body: '' }))];
  return Promise.all(
    answers.map(async (answer) => [answer.status, answer.headers.get('x-own'), await answer.text()]),
  );
}

test.each<[how: string, handler: (c: Context) => Response]>([
  [
    'set and returned',
    (c) => {
      c.res = new Response('yes', { headers: { 'x-own': '1' } });
      return c.res;
    },
  ],
  [
    'returned beside its headers',
    (c) => {
      c.res.headers.set('x-own', '1');
      return new Response('yes');
    },
  ],
])('keeps the answer of a handler that is %s', async (_how, handler) => {
  const answer = [200, '1', 'yes'];
  expect(await callAndAsk(handler)).toEqual([answer, answer]);
});

test('keeps no answer that no cache may store, as is set beside it', async () => {
  const [, asked] = await callAndAsk((c) => {
    c.res.headers.set('cache-control', 'no-store');
    return new Response('secret');
  });
  expect(asked).toEqual([410, null, expect.stringContaining('answer_lost')]);
});

test('a handler that returns nothing fails, and its answer is lost', async () => {
  const [called, asked] = await callAndAsk(() => undefined as never);
  expect([called?.[0], asked?.[0]]).toEqual([500, 410]);
});

test.each(['json', 'text', 'arrayBuffer', 'blob', 'formData'] as const)(
  'behind the guard, c.req.%s() has the bytes that were signed',
  async (method) => {
    const { signer, verifier } = openVerifier();
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
