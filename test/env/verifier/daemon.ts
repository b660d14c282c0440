import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { requireProof } from '../../../libs/public/verifier/src/adapters/express.ts';
import { createLocalKeySet } from '../../../libs/public/verifier/src/keys/local.ts';
import { memoryReplayStore } from '../../../libs/public/verifier/src/replay/memory/store.ts';
import { createVerifier } from '../../../libs/public/verifier/src/verifier.ts';

/** The settings from the parent test. */
export interface DaemonTask {
  readonly internId: string;
  readonly jwks: unknown;
}

// A daemon with a memory store, in its own process so that it can be killed. Reports its port.
process.once('message', ({ internId, jwks }: DaemonTask) => {
  const keys = createLocalKeySet(jwks);
  const verifier = createVerifier({ internId, keys, replay: memoryReplayStore(), clockToleranceSeconds: 0 });
  const guard = requireProof(verifier, { bodyBytesMax: 1000 });
  const server = createServer((request, response) => guard(request, response, () => response.end('{}')));
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
});
