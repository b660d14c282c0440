import { createServer } from 'node:http';
import { serveInTest } from '@ori/test-env/serve-in-test';
import { openVerifier } from '@ori/test-env/verifier/open-verifier';
import Koa, { type Middleware } from 'koa';
import { expect, test } from 'vitest';
import { requireProof } from './koa.ts';

const PATH = '/api/invoke';
const BODY = '{"prompt":"hello"}';

/** A guarded daemon behind other middleware. */
async function world(before: Middleware = (_ctx, next) => next()) {
  const { signer, verifier } = openVerifier();
  const app = new Koa().use(before).use(
    requireProof(verifier, { bodyBytesMax: 1000 }, (ctx, { proof }) => {
      ctx.body = `${proof.user} ${(ctx.request as { body?: unknown }).body}`;
    }),
  );
  const { url } = await serveInTest(createServer(app.callback()));
  return (path: string) =>
    fetch(url + path, {
      method: 'POST',
      body: BODY,
      headers: { 'content-type': 'application/json', ...signer.sign({ path: PATH, body: BODY }) },
    });
}

test('sees the target as sent, wherever it is mounted', async () => {
  const call = await world((ctx, next) => {
    ctx.path = '/invoke';
    return next();
  });
  const response = await call(PATH);
  expect(response.status).toBe(200);
  // So that a body parser behind it passes over the request.
  expect(await response.text()).toBe(`user_test ${BODY}`);
});

test('answers with the headers of a refusal', async () => {
  const response = await (await world())('/other');
  expect(response.status).toBe(401);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'www-authenticate': 'Ori-Proof',
  });
});
