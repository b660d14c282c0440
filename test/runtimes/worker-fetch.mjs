// The minimum that a Worker needs. Measured, not run.
import { createRemoteKeySet, createVerifier, memoryReplayStore } from '@ori/verifier';
import { requireProof } from '@ori/verifier/fetch';

const keys = createRemoteKeySet(JWKS_URL);
const verifier = createVerifier({ internId: INTERN_ID, keys, replay: memoryReplayStore() });
// biome-ignore lint/style/noDefaultExport: a Worker has one.
export default {
  fetch: requireProof(verifier, { bodyBytesMax: 1000 }, (_request, { proof }) => new Response(proof.user)),
};
