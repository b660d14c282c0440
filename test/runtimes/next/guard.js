// The daemon of the test as routes of Next, for calls and for questions about them: built by `next build`, run by `next start`.
import { createRemoteKeySet, createVerifier, memoryReplayStore } from '@ori/verifier';
import { keepAnswers } from '@ori/verifier/answers';
import { requireProof } from '@ori/verifier/fetch';
import { answered } from '../answered.mjs';

const { INTERN_ID, JWKS_URL, ANSWER_KEY } = process.env;
const verifier = createVerifier({
  internId: INTERN_ID,
  keys: createRemoteKeySet(JWKS_URL),
  replay: memoryReplayStore(),
  answers: ANSWER_KEY === undefined ? undefined : keepAnswers({ key: ANSWER_KEY }),
  onOutcome: ({ outcome }) => {
    globalThis.ran.outcomes[outcome] = (globalThis.ran.outcomes[outcome] ?? 0) + 1;
  },
});
globalThis.ran = { total: 0, withoutProof: 0, outcomes: {} };

export const POST = requireProof(verifier, { bodyBytesMax: 100_000 }, async (_request, given, { params }) => {
  globalThis.ran.total += 1;
  const isGiven = given?.proof?.user === 'user_test' && (await params).tool === 'invoke';
  if (!isGiven) globalThis.ran.withoutProof += 1;
  const { text, ...init } = await answered(given);
  return new Response(text, init);
});
