// A Worker that creates verifier, keys and store in module scope, without a compatibility flag.
import { env as bindings } from 'cloudflare:workers';
import { createRemoteKeySet, createVerifier, memoryReplayStore } from '@ori/verifier';
import { keepAnswers } from '@ori/verifier/answers';
import { requireProof } from '@ori/verifier/fetch';
import { requireProof as requireHonoProof } from '@ori/verifier/hono';
import { Hono } from 'hono';
import { answered } from './answered.mjs';

const { ANSWER_KEY } = bindings;
const verifier = createVerifier({
  internId: INTERN_ID,
  keys: createRemoteKeySet(JWKS_URL),
  replay: memoryReplayStore(),
  answers: ANSWER_KEY === undefined ? undefined : keepAnswers({ key: ANSWER_KEY }),
  onOutcome: ({ outcome }) => {
    ran.outcomes[outcome] = (ran.outcomes[outcome] ?? 0) + 1;
  },
});
const options = { bodyBytesMax: 100_000 };
const ran = { total: 0, withoutProof: 0, outcomes: {} };

async function answer(given, env) {
  ran.total += 1;
  if (given?.proof?.user !== 'user_test' || env?.GREETING !== 'hello') ran.withoutProof += 1;
  const { text, ...init } = await answered(given);
  return new Response(text, init);
}

const guarded = requireProof(verifier, options, (_request, given, env) => answer(given, env));
const app = new Hono();
app.post(
  '/api/invoke',
  requireHonoProof(verifier, options, (c, given) => answer(given, c.env)),
);
const handle = ADAPTER === 'hono' ? app.fetch : guarded;

// biome-ignore lint/style/noDefaultExport: a Worker has one.
export default {
  fetch: (request, env, ctx) =>
    request.url.endsWith('/ran') ? new Response(JSON.stringify(ran)) : handle(request, env, ctx),
};
