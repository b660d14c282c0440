import { createRemoteKeySet, createVerifier, memoryReplayStore } from '@ori/verifier';
import { requireProof } from '@ori/verifier/koa';
import Koa from 'koa';

const keys = createRemoteKeySet('https://ori.example/v1/interns/int_7Qm2/daemon/jwks.json');
const verifier = createVerifier({ internId: 'int_7Qm2', keys, replay: memoryReplayStore() });

const app = new Koa();
app.use(
  requireProof(verifier, { bodyBytesMax: 1_000_000 }, (ctx, { proof, body }) => {
    const { prompt } = JSON.parse(body.toString());
    ctx.body = { user: proof.user, prompt };
  }),
);
app.listen(8080);
