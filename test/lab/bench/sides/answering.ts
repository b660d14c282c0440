import { requireProof } from '@ori/verifier/node';
import { openVerifier } from '../proofs.ts';
import { listen } from './listen.ts';

// A daemon that verifies each call and answers it with 1 KiB. Told `kept`, it keeps its answers in memory.

const { verifier } = openVerifier(Date.now, process.argv[2] === 'kept');
const ANSWER = JSON.stringify({ done: 'x'.repeat(1024 - 11) });
const HEADERS = { 'content-type': 'application/json', 'content-length': ANSWER.length };

listen(
  requireProof(verifier, { bodyBytesMax: 10_000 }, (_request, response) => {
    response.writeHead(200, HEADERS).end(ANSWER);
  }),
);
