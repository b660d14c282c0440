import { createRemoteKeySet, createVerifier, memoryReplayStore } from '@ori/verifier';
import { requireProof } from '@ori/verifier/hono';
import { Hono } from 'hono';

const keys = createRemoteKeySet('https://ori.example/v1/interns/int_7Qm2/daemon/jwks.json');
const verifier = createVerifier({ internId: 'int_7Qm2', keys, replay: memoryReplayStore() });

const app = new Hono();
app.post(
  '/api/invoke',
  requireProof(verifier, { bodyBytesMax: 1_000_000 }, (c, { proof, body }) => {
    const { prompt } = JSON.parse(new TextDecoder().decode(body));
    return c.json({ user: proof.user, prompt });
  }),
);
export default app;
