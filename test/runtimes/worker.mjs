// A Worker that creates verifier, keys and store in module scope, without a compatibility flag.
import { createRemoteKeySet, createVerifier, memoryReplayStore } from '@ori/verifier';
import { requireProof } from '@ori/verifier/fetch';
import { requireProof as requireHonoProof } from '@ori/verifier/hono';
import { Hono } from 'hono';

const verifier = createVerifier({
  internId: INTERN_ID,
  keys: createRemoteKeySet(JWKS_URL),
  replay: memoryReplayStore(),
  onOutcome: ({ outcome }) => {
    ran.outcomes[outcome] = (ran.outcomes[outcome] ?? 0) + 1;
  },
});
const options = { bodyBytesMax: 100_000 };
const ran = { total: 0, withoutProof: 0, outcomes: {} };

function answer(given, env) {
  ran.total += 1;
  if (given?.proof?.user !== 'user_test' || env?.GREETING !== 'hello') ran.withoutProof += 1;
  return JSON.stringify({ user: given?.proof?.user, bytes: given?.body?.byteLength });
}

const guarded = requireProof(verifier, options, (_request, given, env) => new Response(answer(given, env)));
const app = new Hono();
app.post(
  '/api/invoke',
  requireHonoProof(verifier, options, (c, given) => c.body(answer(given, c.env))),
);
const handle = ADAPTER === 'hono' ? app.fetch : guarded;

// biome-ignore lint/style/noDefaultExport: a Worker has one.
export default {
  fetch: (request, env, ctx) =>
    request.url.endsWith('/ran') ? new Response(JSON.stringify(ran)) : handle(request, env, ctx),
};
