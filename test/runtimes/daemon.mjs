// A daemon with one adapter, started by the test on every runtime. Plain JavaScript, so that only the package is tested.
import { createServer } from 'node:http';
import { createRemoteKeySet, createVerifier, memoryReplayStore } from '@ori/verifier';
import { keepAnswers } from '@ori/verifier/answers';
import { answered } from './answered.mjs';

const [adapter, internId, jwksUrl, port = 0] = process.argv.slice(2);
const { ANSWER_KEY } = process.env;
const verifier = createVerifier({
  internId,
  keys: createRemoteKeySet(jwksUrl),
  replay: memoryReplayStore(),
  answers: ANSWER_KEY === undefined ? undefined : keepAnswers({ key: ANSWER_KEY }),
  onOutcome: ({ outcome }) => {
    ran.outcomes[outcome] = (ran.outcomes[outcome] ?? 0) + 1;
  },
});
const options = { bodyBytesMax: 100_000 };
const PATH = '/api/invoke';
const ran = { total: 0, withoutProof: 0, outcomes: {} };

function count(given) {
  ran.total += 1;
  if (given?.proof?.user !== 'user_test') ran.withoutProof += 1;
}

/** The response of most handlers. */
function answer(given) {
  count(given);
  return JSON.stringify({ user: given?.proof?.user, bytes: given?.body?.byteLength });
}

const tell = () => JSON.stringify(ran);
const listening = (port) => console.log(`port ${port}`);
const listen = (server) => server.listen(port, '127.0.0.1', () => listening(server.address().port));

/** Uses the runtime's own server for Fetch handlers. */
async function serveFetch(fetch) {
  if (globalThis.Bun) {
    listening(Bun.serve({ port: 0, hostname: '127.0.0.1', fetch }).port);
  } else if (globalThis.Deno) {
    Deno.serve({ port: 0, hostname: '127.0.0.1', onListen: ({ port }) => listening(port) }, fetch);
  } else {
    const { serve } = await import('@hono/node-server');
    serve({ fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => listening(port));
  }
}

const ADAPTERS = {
  async node() {
    const { requireProof } = await import('@ori/verifier/node');
    const guarded = requireProof(verifier, options, async (_req, res, given) => {
      count(given);
      const { status, headers, text } = await answered(given);
      res.writeHead(status, headers).end(text);
    });
    listen(createServer((req, res) => (req.url === '/ran' ? res.end(tell()) : guarded(req, res))));
  },
  express: () => withExpress('express'),
  express4: () => withExpress('express4'),
  async fastify() {
    const { requireProof } = await import('@ori/verifier/fastify');
    const { fastify } = await import('fastify');
    const app = fastify();
    app.get('/ran', async () => tell());
    app.post(
      PATH,
      requireProof(verifier, options, async (_request, _reply, given) => answer(given)),
    );
    await app.listen({ port: 0, host: '127.0.0.1' });
    listening(app.server.address().port);
  },
  async koa() {
    const { requireProof } = await import('@ori/verifier/koa');
    const { default: Koa } = await import('koa');
    const app = new Koa();
    const guarded = requireProof(verifier, options, (ctx, given) => {
      ctx.body = answer(given);
    });
    app.use((ctx, next) => {
      if (ctx.path !== '/ran') return guarded(ctx, next);
      ctx.body = tell();
    });
    listen(createServer(app.callback()));
  },
  async fetch() {
    const { requireProof } = await import('@ori/verifier/fetch');
    const guarded = requireProof(verifier, options, async (_request, given) => {
      count(given);
      const { text, ...init } = await answered(given);
      return new Response(text, init);
    });
    await serveFetch((request, ...rest) =>
      request.url.endsWith('/ran') ? new Response(tell()) : guarded(request, ...rest),
    );
  },
  async hono() {
    const { requireProof } = await import('@ori/verifier/hono');
    const { Hono } = await import('hono');
    const app = new Hono();
    app.get('/ran', (c) => c.body(tell()));
    app.post(
      PATH,
      requireProof(verifier, options, (c, given) => c.body(answer(given))),
    );
    await serveFetch((request, ...rest) => app.fetch(request, ...rest));
  },
};

async function withExpress(name) {
  const { requireProof } = await import('@ori/verifier/express');
  const { default: express } = await import(name);
  const app = express();
  app.get('/ran', (_req, res) => res.end(tell()));
  app.post(
    PATH,
    requireProof(verifier, options, (_req, res, given) => res.end(answer(given))),
    express.json(),
  );
  listen(createServer(app));
}

await ADAPTERS[adapter]();
