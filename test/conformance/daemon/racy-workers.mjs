// A daemon of four processes that share a store in a folder: node racy-workers.mjs HOW INTERN JWKS. Which is `at once`, or `in two steps`,
// as without a lock: the suite must see that in every run (N7).
import cluster from 'node:cluster';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRemoteKeySet, createVerifier, ProofError } from '@ori/verifier';
import { requireProof } from '@ori/verifier/node';

const [how, internId, jwks, given] = process.argv.slice(2);
const folder = given ?? mkdtempSync(join(tmpdir(), 'ori-racy-'));
const WORKERS = 4;

if (cluster.isPrimary) {
  cluster.setupPrimary({ args: [how, internId, jwks, folder] });
  let count = 0;
  cluster.on('listening', (_worker, { port }) => {
    count += 1;
    if (count === WORKERS) console.log(`port ${port}`);
  });
  for (let index = 0; index < WORKERS; index++) cluster.fork();
} else {
  const replay = {
    spend({ nonce }) {
      const path = join(folder, nonce);
      try {
        if (how === 'in two steps' && existsSync(path)) throw new Error('it is there');
        writeFileSync(path, '', { flag: how === 'at once' ? 'wx' : 'w' });
        return 'spent';
      } catch (cause) {
        throw new ProofError('nonce_replayed', 'the proof was spent before', { cause });
      }
    },
  };
  const verifier = createVerifier({ internId, keys: createRemoteKeySet(jwks), replay });
  const guarded = requireProof(verifier, { bodyBytesMax: 100_000 }, (_req, res, { proof }) => {
    res.end(JSON.stringify({ user: proof.user }));
  });
  createServer(guarded).listen(0, '127.0.0.1');
  process.on('disconnect', () => process.exit());
}
