import { initTRPC } from '@trpc/server';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { createRemoteKeySet, createVerifier, memoryReplayStore } from '@ori/verifier';
import { requireProof } from '@ori/verifier/fetch';

const keys = createRemoteKeySet('https://ori.example/v1/interns/int_7Qm2/daemon/jwks.json');
const verifier = createVerifier({ internId: 'int_7Qm2', keys, replay: memoryReplayStore() });

const t = initTRPC.context().create();
const router = t.router({
  invoke: t.procedure
    .input((input) => input)
    .mutation(({ ctx, input }) => ({ user: ctx.user, prompt: input.prompt })),
});

export default {
  fetch: requireProof(verifier, { bodyBytesMax: 1_000_000 }, ({ url, method, headers }, { proof, body }) =>
    fetchRequestHandler({
      endpoint: '/api',
      req: new Request(url, { method, headers, body }),
      router,
      createContext: () => ({ user: proof.user }),
    }),
  ),
};
