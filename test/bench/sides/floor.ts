import { createPrivateKey, generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto';
import express from 'express';

// The floor: a bare Express 5 route that parses the JSON and makes two Ed25519 signatures. It checks nothing.
// With an algorithm, it also verifies one signature of as many bytes as a DPoP proof has, always the same one.

const [port = '', pkcs8 = '', algorithm] = process.argv.slice(2);
const key = createPrivateKey({ key: Buffer.from(pkcs8, 'base64'), format: 'der', type: 'pkcs8' });
const user = 'ada';
const netstring = (field: string) => `${field.length}:${field},`;

const PROOF_BYTES = 550;
const isVerified = algorithm === undefined ? () => true : verification(algorithm);

const app = express();
app.post('/v1/interns/:internId/daemon/sign', express.json(), (req, res) => {
  if (!isVerified()) throw new Error('a valid signature was refused');
  const { internId } = req.params;
  const { bodySha256, route } = req.body;
  const timestamp = String(Math.floor(Date.now() / 1000));
  const nonce = randomBytes(16).toString('base64url');
  const v1 = ['ori-invoke-v1', internId, timestamp, user, bodySha256];
  const v2 = ['ori-invoke-v2', internId, timestamp, nonce, user, route.method, route.path, bodySha256];
  const signed = (fields: string[]) =>
    sign(null, Buffer.from(fields.map(netstring).join('')), key).toString('base64');
  res.json({
    'x-ori-invoke-signature': signed(v1),
    'x-ori-invoke-timestamp': timestamp,
    'x-ori-invoke-user': user,
    'x-ori-invoke-signature-v2': signed(v2),
    'x-ori-invoke-nonce': nonce,
  });
});
/** The cheapest verification: a bare key and a DER signature. */
function verification(name: string): () => boolean {
  const isEcdsa = name === 'ES256';
  const pair = isEcdsa ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519');
  const digest = isEcdsa ? 'sha256' : null;
  const input = randomBytes(PROOF_BYTES);
  const signature = sign(digest, input, pair.privateKey);
  return () => verify(digest, input, pair.publicKey, signature);
}

app.listen(Number(port), '127.0.0.1', () => process.send?.('listening'));
