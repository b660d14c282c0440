import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { createLocalKeySet, createVerifier } from '@ori/verifier';
import { requireProof } from '@ori/verifier/node';
import { createTestReplayStore, createTestSigner, type TestSigner } from '@ori/verifier/testing';
import { type Served, serve } from '../env/serve.ts';

/** What a daemon saw of one request, and its verdict. */
export interface Arrival {
  readonly method: string;
  /** As received, one character per byte. */
  readonly target: string;
  /** Absent if the proof was refused before or because of it. */
  readonly bodySha256?: string;
  readonly verdict: string;
}

/** A daemon with the real verifier that accepts any path and records the requests. */
export interface JudgingDaemon extends Served<Server> {
  readonly signer: TestSigner;
  /** The requests since the last call. */
  takeArrivals(): Arrival[];
}

/** This path answers with a stream that begins and does not end. */
export const STREAM = { path: '/api/stream', begins: 'data: begun\n\n' };

export const INTERN_ID = 'int_gateway';

/** @param hangsUp close the connection instead of answering an accepted call */
export async function startJudgingDaemon({ hangsUp = false } = {}): Promise<JudgingDaemon> {
  const signer = createTestSigner({ internId: INTERN_ID });
  const keys = createLocalKeySet(signer.jwks);
  const verifier = createVerifier({ internId: INTERN_ID, keys, replay: createTestReplayStore() });
  let arrivals: Arrival[] = [];

  const limits = { headersTimeout: 1000, requestTimeout: 1000, connectionsCheckingInterval: 100 };
  const guarded = requireProof(verifier, { bodyBytesMax: 1_048_576 }, (req, res, { body }) => {
    const { method = '', url: target = '' } = req;
    const bodySha256 = createHash('sha256').update(body).digest('hex');
    arrivals.push({ method, target, bodySha256, verdict: 'accepted' });
    if (hangsUp) req.socket.destroy();
    else if (target === STREAM.path) res.write(STREAM.begins);
    else res.end('{"accepted":true}');
  });
  const server = createServer(limits, (req, res) => {
    const { method = '', url: target = '' } = req;
    res.once('close', () => {
      if (res.statusCode === 200) return;
      arrivals.push({ method, target, verdict: String(res.statusCode) });
    });
    guarded(req, res);
  });
  return {
    ...(await serve(server)),
    signer,
    takeArrivals() {
      const taken = arrivals;
      arrivals = [];
      return taken;
    },
  };
}
