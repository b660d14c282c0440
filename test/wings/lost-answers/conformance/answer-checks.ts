import { setTimeout as pause } from 'node:timers/promises';
import { type Bench, type Change, errorOf, newNonce, textOf } from '../../../conformance/daemon/bench.ts';
import type { Check } from '../../../conformance/daemon/checks.ts';
import type { RawAnswer } from '../../../env/raw-http.ts';

export const pathOf = (nonce: string): string => `/.well-known/ori/calls/${nonce}`;
const question = (nonce: string, user?: string): Change => ({
  claim: { path: pathOf(nonce), body: Buffer.alloc(0), ...(user !== undefined && { user }) },
});
const MALLORY = 'user_mallory';

const saying = ({ status, headers, body }: RawAnswer): string =>
  headers.get('ori-answer') === 'kept' ? `${status} kept` : `${status} ${errorOf(body)?.code ?? ''}`.trim();
const expecting = (answer: RawAnswer, ...expected: string[]): string | undefined =>
  expected.includes(saying(answer)) ? undefined : `expected ${expected.join(' or ')}, got ${saying(answer)}`;

/** How the handler is to answer (README.md, Daemons). */
interface Wanted {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly afterMs?: number;
  readonly bytes?: number;
}

/** A call, and what its answer must be when it is asked for. */
async function call(bench: Bench, wanted: Wanted = {}) {
  const nonce = newNonce();
  const body = Buffer.from(JSON.stringify({ prompt: 'hello', answer: wanted }));
  const answering = bench.tell({ claim: { nonce, body } });
  return { nonce, answering };
}

/** What is wrong with a kept answer: the call's own is what the client got. */
function otherThan(first: RawAnswer, kept: RawAnswer): string | undefined {
  if (kept.headers.get('ori-answer') !== 'kept') return `expected ori-answer: kept, got ${textOf(kept)}`;
  if (kept.status !== first.status) return `status ${kept.status} for ${first.status}`;
  if (kept.body !== first.body) return `a body of ${kept.body.length} for ${first.body.length} bytes`;
  for (const name of ['content-type', 'x-own'])
    if (kept.headers.get(name) !== first.headers.get(name)) return `${name}: ${kept.headers.get(name)}`;
  return kept.headers.has('set-cookie') ? 'it has the cookie of the call' : undefined;
}

/** What a question about an unknown nonce is told: one of the two, unless the fence of the store was seen. */
const UNKNOWN = ['404 call_not_received', '410 answer_lost'];
const unknownTo = (bench: Bench): string[] => (bench.sawFence() ? ['410 answer_lost'] : UNKNOWN);

/** For daemons that keep none. A router may know no such path: its own 404 will do, or Fastify's 400 for a body of JSON that is empty. */
export const QUESTION_CHECKS: readonly Check[] = [
  {
    sentence: 'V19',
    title: 'answers a question itself',
    async run(bench) {
      const answer = await bench.tell(question(newNonce()));
      const right = ['404 answers_not_kept', '404', '400'];
      return right.includes(textOf(answer)) ? undefined : `got ${textOf(answer)}`;
    },
  },
];

/** For daemons that keep answers (REPLAY-STORES.md, N14 to N23). Others ask first: that must change nothing. */
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
    sentence: 'N15',
    title: 'has a record of a call from its spend on',
    async run(bench) {
      const { nonce, answering } = await call(bench, { afterMs: 3000 });
      let first: RawAnswer;
      // Until the call has arrived, the question may be the first: then the call is refused.
      do {
        await pause(500);
        first = await bench.tell(question(nonce));
      } while (saying(first) === '401 nonce_replayed');
      await answering;
      return expecting(first, '409 call_running');
    },
  },
  {
    sentence: 'N16',
    title: 'gives the answer of a call again, with its status, headers and body and without its cookie',
    async run(bench) {
      const headers = { 'x-own': '1', 'set-cookie': 'session=1' };
      const { nonce, answering } = await call(bench, { status: 201, headers });
      const first = await answering;
      if (first.status !== 201) return `the handler answered ${textOf(first)}, not as it was asked`;
      await bench.tell(question(nonce, MALLORY));
      for (const again of [await bench.tell(question(nonce)), await bench.tell(question(nonce))]) {
        const other = otherThan(first, again);
        if (other !== undefined) return other;
      }
      return undefined;
    },
  },
  {
    sentence: 'A1',
    title: 'says with the answer that it is recorded',
    async run(bench) {
      const said = (await bench.tell()).headers.get('ori-answer');
      return said === 'recorded' ? undefined : `ori-answer: ${said}`;
    },
  },
  {
    sentence: 'N17',
    title: 'says that a call runs, and gives its answer once it has ended',
    async run(bench) {
      const { nonce, answering } = await call(bench, { afterMs: 2500 });
      await pause(700);
      await bench.tell(question(nonce, MALLORY));
      const running = await bench.tell(question(nonce));
      const wrong = expecting(running, '409 call_running');
      if (wrong !== undefined) return wrong;
      if (!/^[1-9][0-9]*$/.test(running.headers.get('retry-after') ?? '')) return 'no Retry-After';
      const first = await answering;
      return otherThan(first, await bench.tell(question(nonce)));
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
    sentence: 'N18',
    title: 'keeps a large answer as a whole, or says that it is too large',
    async run(bench) {
      const { nonce, answering } = await call(bench, { bytes: 1_500_000 });
      const first = await answering;
      const asked = await bench.tell(question(nonce));
      return saying(asked) === '410 answer_too_large' ? undefined : otherThan(first, asked);
    },
  },
  {
    sentence: 'N19',
    title: 'refuses a call that arrives after a question about it, of whomever',
    async run(bench) {
      for (const user of [MALLORY, undefined]) {
        const nonce = newNonce();
        await bench.tell(question(nonce, user));
        const wrong = expecting(await bench.tell({ claim: { nonce } }), '401 nonce_replayed');
        if (wrong !== undefined) return wrong;
      }
      return undefined;
    },
  },
  {
    sentence: 'N20',
    title: 'says twice the same of a call that it has not received, and that nobody knows after a start',
    async run(bench) {
      const nonce = newNonce();
      const first = await bench.tell(question(nonce));
      const wrong = expecting(first, ...unknownTo(bench));
      return wrong ?? expecting(await bench.tell(question(nonce)), saying(first));
    },
  },
  {
    sentence: 'N21',
    title: 'tells another person of a call what it tells of none, and changes nothing',
    async run(bench) {
      const { nonce, answering } = await call(bench);
      const first = await answering;
      const none = await bench.tell(question(newNonce(), MALLORY));
      const wrong = expecting(none, ...unknownTo(bench));
      if (wrong !== undefined) return wrong;
      for (let times = 0; times < 2; times++) {
        const told = expecting(await bench.tell(question(nonce, MALLORY)), saying(none));
        if (told !== undefined) return told;
      }
      return otherThan(first, await bench.tell(question(nonce)));
    },
  },
];
