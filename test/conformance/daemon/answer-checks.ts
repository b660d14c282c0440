import type { RawAnswer } from '../../env/raw-http.ts';
import { type Bench, type Change, codeOf, errorOf, newNonce, textOf } from './bench.ts';
import { accepted, type Check } from './checks.ts';

const pathOf = (nonce: string): string => `/.well-known/ori/calls/${nonce}`;
const question = (nonce: string, user?: string): Change => ({
  claim: { path: pathOf(nonce), body: Buffer.alloc(0), ...(user !== undefined && { user }) },
});
const saying = ({ status, body }: RawAnswer): string => `${status} ${errorOf(body)?.code ?? ''}`.trim();
const expecting = (answer: RawAnswer, ...expected: string[]): string | undefined =>
  expected.includes(saying(answer)) ? undefined : `expected ${expected.join(' or ')}, got ${saying(answer)}`;

/** Makes a call, and asks about it. */
async function asked(bench: Bench, user?: string): Promise<RawAnswer> {
  const nonce = newNonce();
  await bench.tell({ claim: { nonce } });
  return bench.tell(question(nonce, user));
}

/** For daemons that keep none. A router may know no such path: its own 404 will do. */
export const QUESTION_CHECKS: readonly Check[] = [
  {
    sentence: 'V19',
    title: 'answers a question itself',
    async run(bench) {
      const answer = await bench.tell(question(newNonce()));
      const isOwn = [undefined, 'answers_not_kept'].includes(codeOf(answer));
      return answer.status === 404 && isOwn ? undefined : `got ${textOf(answer)}`;
    },
  },
];

/** For daemons that keep answers (REPLAY-STORES.md, N14 to N21). */
export const ANSWER_CHECKS: readonly Check[] = [
  {
    sentence: 'N14',
    title: 'spends the proof of a question',
    async run(bench) {
      const change = question(newNonce());
      const claim = { ...change.claim, nonce: newNonce() };
      await bench.tell({ claim });
      return expecting(await bench.tell({ claim }), '401 nonce_replayed');
    },
  },
  {
    sentence: 'N16',
    title: 'gives the answer of a call again',
    async run(bench) {
      const answer = await asked(bench);
      if (answer.headers.get('ori-answer') !== 'kept') return 'expected ori-answer: kept';
      return accepted(answer);
    },
  },
  {
    sentence: 'N18',
    title: 'says of a question that its answer is not kept',
    async run(bench) {
      const nonce = newNonce();
      await bench.tell({ claim: { ...question(newNonce()).claim, nonce } });
      return expecting(await bench.tell(question(nonce)), '410 answer_lost');
    },
  },
  {
    sentence: 'N19',
    title: 'refuses a call that arrives after the question about it',
    async run(bench) {
      const nonce = newNonce();
      await bench.tell(question(nonce));
      return expecting(await bench.tell({ claim: { nonce } }), '401 nonce_replayed');
    },
  },
  {
    sentence: 'N20',
    title: 'says twice that a call was not received, or that nobody knows',
    async run(bench) {
      const nonce = newNonce();
      const first = await bench.tell(question(nonce));
      const wrong = expecting(first, '404 call_not_received', '410 answer_lost');
      return wrong ?? expecting(await bench.tell(question(nonce)), saying(first));
    },
  },
  {
    sentence: 'N21',
    title: 'tells another person nothing',
    async run(bench) {
      return expecting(await asked(bench, 'user_mallory'), '404 call_not_received');
    },
  },
];
