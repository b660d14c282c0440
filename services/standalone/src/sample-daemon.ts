import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createVerifier } from '@ori/verifier';
import { provenOf, requireProof } from '@ori/verifier/express';
import { createRootedKeySet, type RootJwk } from '@ori/verifier/rooted';
import express from 'express';
import type { Replay } from './open-replay.ts';

const BODY_BYTES_MAX = 1_048_576;

export interface SampleDaemonOptions {
  readonly internId: string;
  readonly jwksUrl: string;
  readonly root: RootJwk;
  readonly replay: Replay;
  /** The text of the file with the key that proves its answers; without it, nothing proves them. */
  readonly answerKey?: string;
  /** 0: the system chooses. */
  readonly port: number;
}

/**
 * An intern's daemon as its author would write it: every request needs a proof, and `POST /api/invoke` answers who
 * called. Refusals are those of the verifier. A proof for any other path is verified and spent too, then the answer is
 * 404.
 */
export async function startSampleDaemon(options: SampleDaemonOptions) {
  const { internId, jwksUrl, root, replay, answerKey, port } = options;
  const keys = createRootedKeySet(jwksUrl, { root });
  const { store, clockToleranceSeconds } = replay;
  const { keepAnswers } = await import('@ori/verifier/answers');
  const answers = answerKey === undefined ? undefined : keepAnswers({ key: answerKey });
  const verifier = createVerifier({ internId, keys, replay: store, clockToleranceSeconds, answers });

  await replay.fence();
  const acceptsFromMs = (Math.ceil(Date.now() / 1000 + clockToleranceSeconds) + 1) * 1000;

  const app = express();
  app.disable('x-powered-by');
  // So that newcomers can try `ori doctor call` with a proxy.
  app.use(requireProof(verifier, { bodyBytesMax: BODY_BYTES_MAX, diagnose: true }));
  app.post('/api/invoke', (req, res) => {
    res.json({ user: provenOf(req).proof.user });
  });
  app.use((_req, res) => {
    const message = 'This daemon has nothing but POST /api/invoke.';
    res.status(404).json({ error: { code: 'not_found', message } });
  });

  const server = createServer(app);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Unix milliseconds: proofs signed from then on are after the fence of the replay store. */
    acceptsFromMs,
    async stop(): Promise<void> {
      keys.close();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
