import { expect, test } from 'vitest';
import { createLocalKeySet } from '../keys/local.ts';
import type { ProofReport } from '../outcome.ts';
import { createTestReplayStore, createTestSigner } from '../testing.ts';
import { createVerifier } from '../verifier.ts';
import { createGuard } from './guard.ts';
import { provenOf } from './proven.ts';

const BODY = '{"prompt":"hello"}';

function world(bodyBytesMax: number) {
  const signer = createTestSigner({ internId: 'int_1' });
  const outcomes: ProofReport['outcome'][] = [];
  const verifier = createVerifier({
    internId: 'int_1',
    keys: createLocalKeySet(signer.jwks),
    replay: createTestReplayStore(),
    onOutcome: ({ outcome }) => void outcomes.push(outcome),
  });
  const guard = createGuard(verifier, { bodyBytesMax }, () => {});
  let isCancelled = false;
  /** A request whose body arrives in these pieces. */
  const judge = async (pieces: readonly string[], announcedBytes?: number) => {
    const { body, ...head } = signer.request({ path: '/', body: pieces.join('') });
    const judgement = await guard.judge({
      head,
      body: pieces.map((piece) => Buffer.from(piece)),
      cancel: () => {
        isCancelled = true;
      },
      ...(announcedBytes !== undefined && { announcedBytes }),
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
  for (const announced of [undefined, BODY.length])
    expect((await world(BODY.length).judge([BODY], announced)).proven).toBeDefined();
  expect((await world(0).judge([])).proven).toBeDefined();
});

test.each([
  ['announced', BODY.length],
  ['not announced', undefined],
])('refuses a body of one byte more, %s, and reports it once', async (_, announced) => {
  const { judge, outcomes } = world(BODY.length - 1);
  const { answer, isCancelled } = await judge(['{"prompt":', '"hello"}'], announced);
  expect(answer?.status).toBe(413);
  expect(outcomes).toEqual(['body_too_large']);
  expect(isCancelled).toBe(announced === undefined);
});

test('has no proof for a request that was not guarded', () => {
  expect(() => provenOf({})).toThrow(TypeError);
});
