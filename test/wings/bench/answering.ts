import { keepAnswers } from '@ori/verifier/answers';
import { requireProof } from '@ori/verifier/node';
import { openVerifier } from '../../lab/bench/proofs.ts';
import { listen } from '../../lab/bench/sides/listen.ts';

// A daemon that verifies each call and answers it with so many bytes. Told `kept`, it keeps its answers in memory; `proven`, it proves them too.

const [, , how = '', bytes = ''] = process.argv;
const key = how === 'proven' ? new Uint8Array(32).fill(7) : undefined;
const { verifier } = openVerifier(Date.now, how === 'plain' ? undefined : keepAnswers({ key }));
const ANSWER = JSON.stringify({ done: 'x'.repeat(Number(bytes) - 11) });
const HEADERS = { 'content-type': 'application/json', 'content-length': ANSWER.length };

listen(
  requireProof(verifier, { bodyBytesMax: 10_000 }, (_request, response) => {
    response.writeHead(200, HEADERS).end(ANSWER);
  }),
);
