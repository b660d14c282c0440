import { generateKeyPairSync, hash, sign } from 'node:crypto';
import { keepAnswers } from '@ori/verifier/answers';
import { requireProof } from '@ori/verifier/node';
import { openVerifier } from '../../lab/bench/proofs.ts';
import { listen } from '../../lab/bench/sides/listen.ts';

// A daemon that verifies each call and answers it with so many bytes. Told `kept`, it keeps its answers in memory; `proven`, it proves them too;
// `signed`, it keeps them and does, for nothing, what a proof takes at least: one SHA-256 of the answer and one signature.

const [, , how = '', bytes = ''] = process.argv;
const key = how === 'proven' ? new Uint8Array(32).fill(7) : undefined;
const { verifier } = openVerifier(Date.now, how === 'plain' ? undefined : keepAnswers({ key }));
const ANSWER = JSON.stringify({ done: 'x'.repeat(Number(bytes) - 11) });
const HEADERS = { 'content-type': 'application/json', 'content-length': ANSWER.length };

const WHOLE = Buffer.from(ANSWER);
const { privateKey } = generateKeyPairSync('ed25519');
const signs = how === 'signed';

listen(
  requireProof(verifier, { bodyBytesMax: 10_000 }, (_request, response) => {
    if (signs) sign(null, Buffer.from(hash('sha256', WHOLE, 'hex')), privateKey);
    response.writeHead(200, HEADERS).end(ANSWER);
  }),
);
