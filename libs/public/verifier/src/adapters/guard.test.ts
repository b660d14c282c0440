import { openVerifier } from '@ori/test-env/verifier/open-verifier';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ProofReport } from '../outcome.ts';
import { type Arrival, createGuard } from './guard.ts';
import { provenOf } from './proven.ts';

const BODY = '{"prompt":"hello"}';

function world(bodyBytesMax: number) {
  const outcomes: ProofReport['outcome'][] = [];
  const { signer, verifier } = openVerifier({ onOutcome: ({ outcome }) => void outcomes.push(outcome) });
  const guard = createGuard(verifier, { bodyBytesMax }, () => {});
  let isCancelled = false;
  /** A request whose body arrives in these pieces. */
  const judge = async (pieces: readonly string[], other: Partial<Arrival> = {}) => {
    const { body, ...head } = signer.request({ path: '/', body: pieces.join('') });
    const judgement = await guard.judge({
      head,
      body: pieces.map((piece) => Buffer.from(piece)),
      cancel: () => {
        isCancelled = true;
      },
      ...other,
    });
    return { ...judgement, isCancelled };
  };
  return { judge, outcomes };
}

test.each([[[BODY]], [['{"prompt":', '"hello"}']], [['{', ...BODY.slice(1)]]])(
  'has the whole body, which arrived as %j, and wants no more',
  async (pieces) => {
    const { proven, isCancelled } = await world(100).judge(pieces);
    expect(Buffer.from(proven?.body ?? []).toString()).toBe(BODY);
    expect(isCancelled).toBe(false);
  },
);

test('takes a body of exactly the limit, announced or not, and none at a limit of 0', async () => {
  for (const announced of [{}, { announcedBytes: BODY.length }])
    expect((await world(BODY.length).judge([BODY], announced)).proven).toBeDefined();
  expect((await world(0).judge([])).proven).toBeDefined();
});

test.each([
  ['announced', { announcedBytes: BODY.length }, false],
  ['not announced', {}, true],
])('refuses a body of one byte more, %s, and reports it once', async (_, announced, cancels) => {
  const { judge, outcomes } = world(BODY.length - 1);
  const { answer, isCancelled } = await judge(['{"prompt":', '"hello"}'], announced);
  expect(answer?.status).toBe(413);
  expect(outcomes).toEqual(['body_too_large']);
  expect(isCancelled).toBe(cancels);
});

async function* brokenOff() {
  yield Buffer.from(BODY.slice(0, 5));
  throw new Error('the client is gone');
}

const OTHER_HEAD = { method: 'POST', target: '/', rawHeaders: [] };

// `closes`: the connection is not kept for the rest of a body that nobody reads.
test.each<[string, Partial<Arrival>, string, number, { isAborted: boolean; closes: boolean }]>([
  ['breaks off', { body: brokenOff() }, 'aborted', 400, { isAborted: true, closes: true }],
  ['is too long', { body: [Buffer.alloc(101)] }, 'body_too_large', 413, { isAborted: false, closes: true }],
  ['is not signed', { head: OTHER_HEAD }, 'proof_missing', 401, { isAborted: false, closes: false }],
  [
    'is another',
    { body: [Buffer.from('{}')] },
    'signature_invalid',
    401,
    { isAborted: false, closes: false },
  ],
  ['was parsed', { misuse: 'parsed' }, 'internal_error', 500, { isAborted: false, closes: false }],
])('answers a request whose body %s', async (_, other, outcome, status, rest) => {
  const { judge, outcomes } = world(100);
  expect(await judge([BODY], other)).toMatchObject({ answer: { status }, ...rest });
  expect(outcomes).toEqual([outcome]);
});

test('leaves no timer behind', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { judge } = world(100);
  for (const body of [[Buffer.from(BODY)], brokenOff()]) await judge([BODY], { body });
  expect(vi.getTimerCount()).toBe(0);
});

test('has no proof for a request that was not guarded', () => {
  expect(() => provenOf({})).toThrow(TypeError);
});
