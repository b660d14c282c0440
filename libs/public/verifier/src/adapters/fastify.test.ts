import { Readable } from 'node:stream';
import { openVerifier } from '@ori/test-env/verifier/open-verifier';
import { type FastifyInstance, fastify } from 'fastify';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { createVerifier } from '../verifier.ts';
import { requireProof as requireProofOnExpress } from './express.ts';
import { requireProof } from './fastify.ts';

const PATH = '/api/invoke';

/** A guarded daemon, of which `prepare` sets up the rest. */
function world(prepare: (app: FastifyInstance) => unknown) {
  const { signer, verifier, reports } = openVerifier();
  const app = fastify();
  onTestFinished(() => app.close());
  prepare(app);
  const ran = vi.fn<(body: unknown) => void>();
  app.post(
    PATH,
    requireProof(verifier, { bodyBytesMax: 2_000_000 }, (request) => {
      ran(request.body);
      return {};
    }),
  );
  const call = async (body: string) => {
    const headers = { 'content-type': 'application/json', ...signer.sign({ path: PATH, body }) };
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    return await fetch(url + PATH, { method: 'POST', body, headers });
  };
  return { call, ran, reports };
}

test.each(['', '{"prompt":"hello"}'])('passes the body %j to a parser of the application', async (body) => {
  const { call, ran } = world((app) =>
    app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes, done) =>
      done(null, bytes),
    ),
  );
  expect((await call(body)).status).toBe(200);
  expect(ran.mock.calls).toEqual([[Buffer.from(body)]]);
});

test('answers 500 behind a hook that replaces the body, and no handler runs', async () => {
  const { call, ran, reports } = world((app) =>
    app.addHook('preParsing', (_request, _reply, _payload, done) => done(null, Readable.from(['{}']))),
  );
  expect((await call('{"prompt":"hello"}')).status).toBe(500);
  expect(reports).toMatchObject([{ outcome: 'internal_error', error: expect.any(TypeError) }]);
  expect(ran).not.toHaveBeenCalled();
});

test('passes on a body above the limit that Fastify has for others', async () => {
  const { call, ran } = world(() => undefined);
  const body = JSON.stringify('x'.repeat(1_500_000));
  expect((await call(body)).status).toBe(200);
  expect(ran).toHaveBeenCalledOnce();
});

/** Serves a route of Fastify behind what is for Express, as @fastify/middie and NestJS do, or @fastify/express. */
async function behindExpress(
  { hasExpress }: { hasExpress: boolean },
  middlewareOf: (verifier: ReturnType<typeof createVerifier>) => ReturnType<typeof requireProofOnExpress>,
) {
  const { signer, verifier, reports } = openVerifier();
  const app = fastify();
  onTestFinished(() => app.close());
  const middleware = middlewareOf(verifier);
  app.addHook('onRequest', ({ raw, hostname, log }, reply, done) => {
    const request = Object.assign(raw, { originalUrl: raw.url ?? '', hostname, log });
    middleware(hasExpress ? Object.assign(request, { app }) : request, reply.raw, done);
  });
  app.post(PATH, () => expect.unreachable());
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const headers = { 'content-type': 'application/json', ...signer.sign({ path: PATH, body: '{}' }) };
  return { response: await fetch(url + PATH, { method: 'POST', body: '{}', headers }), reports };
}

test.each([
  ['@fastify/middie', { hasExpress: false }],
  ['@fastify/express', { hasExpress: true }],
])(
  'the middleware of Express answers 500 below %s, where Fastify would wait for the body',
  async (_, below) => {
    const { response, reports } = await behindExpress(below, (verifier) =>
      requireProofOnExpress(verifier, { bodyBytesMax: 1000 }),
    );
    expect(response.status).toBe(500);
    expect(reports).toMatchObject([
      { outcome: 'internal_error', error: { message: expect.stringContaining('@ori/verifier/fastify') } },
    ]);
  },
);

test('a handler of Express answers below Fastify, too', async () => {
  const { response } = await behindExpress(
    { hasExpress: true },
    (verifier) =>
      requireProofOnExpress(verifier, { bodyBytesMax: 1000 }, (_request, answer, { proof }) =>
        answer.end(proof.user),
      ) as ReturnType<typeof requireProofOnExpress>,
  );
  expect([response.status, await response.text()]).toEqual([200, 'user_test']);
});
