import { createRemoteKeySet, createVerifier, memoryReplayStore } from '@ori/verifier';
import { requireProof } from '@ori/verifier/fetch';

const keys = createRemoteKeySet('https://ori.example/v1/interns/int_7Qm2/daemon/jwks.json');
const verifier = createVerifier({ internId: 'int_7Qm2', keys, replay: memoryReplayStore() });

export const POST = requireProof(verifier, { bodyBytesMax: 1_000_000 }, (request, { proof, body }) => {
  const { prompt } = JSON.parse(new TextDecoder().decode(body));
  return Response.json({ user: proof.user, prompt });
});
