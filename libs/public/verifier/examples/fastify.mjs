import { createRemoteKeySet, createVerifier, memoryReplayStore } from '@ori/verifier';
import { requireProof } from '@ori/verifier/fastify';
import { fastify } from 'fastify';

const keys = createRemoteKeySet('https://ori.example/v1/interns/int_7Qm2/daemon/jwks.json');
const verifier = createVerifier({ internId: 'int_7Qm2', keys, replay: memoryReplayStore() });

const app = fastify();
app.post(
  '/api/invoke',
  requireProof(verifier, { bodyBytesMax: 1_000_000 }, async (request, reply, { proof }) => {
    return { user: proof.user, prompt: request.body.prompt };
  }),
);
await app.listen({ port: 8080 });
