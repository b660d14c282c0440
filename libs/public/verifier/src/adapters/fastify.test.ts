import { Readable } from 'node:stream';
import { type FastifyInstance, fastify } from 'fastify';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createLocalKeySet } from '../keys/local.ts';
import type { ProofReport } from '../outcome.ts';
import { createTestReplayStore, createTestSigner } from '../testing.ts';
import { createVerifier } from '../verifier.ts';
import { requireProof as requireProofOnExpress } from './express.ts';
import { requireProof } from './fastify.ts';

const PATH = '/api/invoke';

/** A guarded daemon, of which `prepare` sets up the rest. */
function world(prepare: (app: FastifyInstance) => unknown) {
  const signer = createTestSigner({ internId: 'int_1' });
  const reports: ProofReport[] = [];
  const verifier = createVerifier({
    internId: 'int_1',
    keys: createLocalKeySet(signer.jwks),
    replay: createTestReplayStore(),
    onOutcome: (report) => void reports.push(report),
  });
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

test('the middleware of Express answers 500 below Fastify, which would wait for the body that it has read', async () => {
  const signer = createTestSigner({ internId: 'int_1' });
  const reports: ProofReport[] = [];
  const verifier = createVerifier({
    internId: 'int_1',
    keys: createLocalKeySet(signer.jwks),
    replay: createTestReplayStore(),
    onOutcome: (report) => void reports.push(report),
  });
  const app = fastify();
  onTestFinished(() => app.close());
  const middleware = requireProofOnExpress(verifier, { bodyBytesMax: 1000 });
  // As @fastify/middie does, on which NestJS mounts its middleware.
  app.addHook('onRequest', ({ raw, hostname, log }, reply, done) => {
    middleware(Object.assign(raw, { originalUrl: raw.url ?? '', hostname, log }), reply.raw, done);
  });
  app.post(PATH, () => expect.unreachable());
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const headers = { 'content-type': 'application/json', ...signer.sign({ path: PATH, body: '{}' }) };
  const response = await fetch(url + PATH, { method: 'POST', body: '{}', headers });
  expect(response.status).toBe(500);
  expect(reports).toMatchObject([
    { outcome: 'internal_error', error: { message: expect.stringContaining('@ori/verifier/fastify') } },
  ]);
});
