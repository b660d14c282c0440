import { generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto';
import express from 'express';
import { listen } from './listen.ts';
import { twoSignatures } from './two-signatures.ts';

// The bare route: Express 5 that parses the JSON and makes two Ed25519 signatures. It checks nothing.
// With an algorithm, it also verifies one signature of as many bytes as a DPoP proof has, always the same one.

const [pkcs8 = '', algorithm] = process.argv.slice(2);
const answerOf = twoSignatures(pkcs8);

const PROOF_BYTES = 550;
const isVerified = algorithm === undefined ? () => true : verification(algorithm);

const app = express();
app.post('/v1/interns/:internId/daemon/sign', express.json(), (req, res) => {
  if (!isVerified()) throw new Error('a valid signature was refused');
  res.json(answerOf(req.params.internId, req.body, randomBytes(16).toString('base64url')));
});
listen(app);

/** The cheapest verification: a bare key and a DER signature. */
function verification(name: string): () => boolean {
  const isEcdsa = name === 'ES256';
  const pair = isEcdsa ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519');
  const digest = isEcdsa ? 'sha256' : null;
  const input = randomBytes(PROOF_BYTES);
  const signature = sign(digest, input, pair.privateKey);
  return () => verify(digest, input, pair.publicKey, signature);
}
