// The daemon of the test as a route of Next: built by `next build`, run by `next start`.
import { createRemoteKeySet, createVerifier, memoryReplayStore } from '@ori/verifier';
import { requireProof } from '@ori/verifier/fetch';

const { INTERN_ID, JWKS_URL } = process.env;
const keys = createRemoteKeySet(JWKS_URL);
const verifier = createVerifier({
  internId: INTERN_ID,
  keys,
  replay: memoryReplayStore(),
  onOutcome: ({ outcome }) => {
    globalThis.ran.outcomes[outcome] = (globalThis.ran.outcomes[outcome] ?? 0) + 1;
  },
});
globalThis.ran = { total: 0, withoutProof: 0, outcomes: {} };

export const runtime = 'nodejs';
export const POST = requireProof(verifier, { bodyBytesMax: 100_000 }, async (_request, given, { params }) => {
  globalThis.ran.total += 1;
  const isGiven = given?.proof?.user === 'user_test' && (await params).tool === 'invoke';
  if (!isGiven) globalThis.ran.withoutProof += 1;
  return Response.json({ user: given?.proof?.user, bytes: given?.body?.byteLength });
});
