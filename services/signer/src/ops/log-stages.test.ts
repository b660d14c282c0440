import { BusyError } from '@ori/runtime/busy-error';
import type { Logger } from '@ori/runtime/log';
import { expect, test, vi } from 'vitest';
import { DependencyError } from '../core/dependency-error.ts';
import type { SigningCall, SigningParts, signProof } from '../core/sign-proof.ts';
import { SigningError } from '../core/stages/signing-error.ts';
import { logStages } from './log-stages.ts';

const PARTS = {
  identities: { identify: async () => 'caller' },
  gate: { facts: () => 'facts' },
  nonces: { reserve: async () => true },
  turns: { take: () => Promise.reject(new DependencyError('redis', 'down')) },
  atWork: (_key: string, _waiter: unknown, work: () => unknown) => work(),
} as unknown as SigningParts;

/** The stages that the log has of a signing that does this with its parts. */
async function stagesOf(sign: (call: SigningCall, parts: SigningParts) => unknown) {
  const debug = vi.fn();
  const nameIntern = vi.fn();
  const call = { requestId: 'r1', readBody: async () => new Uint8Array(), nameIntern } as never;
  const watched = logStages({ debug } as unknown as Logger, sign as typeof signProof);
  const outcome = await watched(call, PARTS).catch((error: unknown) => error);
  const [{ requestId, stages }] = debug.mock.calls[0] as [{ requestId: string; stages: object[] }];
  expect(requestId).toBe('r1');
  return { outcome, stages, nameIntern };
}

test('a stage that waited twice has the sum of both, rounded to a hundredth of a millisecond', async () => {
  const clock = vi.spyOn(performance, 'now');
  for (const ms of [10, 30.0049, 100, 107]) clock.mockReturnValueOnce(ms);
  clock.mockReturnValue(1000);
  const { outcome, stages } = await stagesOf(async (_call, { nonces }) => {
    await nonces.reserve({} as never);
    return [await nonces.reserve({} as never)];
  });
  clock.mockRestore();
  expect(outcome).toEqual([true]);
  expect(stages).toEqual([{ stage: 'nonce', outcome: 'passed', ms: 27 }]);
});

test('passes on the intern that the store has confirmed', async () => {
  const { nameIntern } = await stagesOf(async (call) => call.nameIntern('int_1'));
  expect(nameIntern.mock.calls).toEqual([['int_1']]);
});

const intern = async (_call: SigningCall, { gate }: SigningParts) => gate.facts({} as never);

test.each<[string, object[], (call: SigningCall, parts: SigningParts) => unknown]>([
  [
    'the stage whose wait failed, although another was begun after it',
    [
      { stage: 'intern', outcome: 'passed', ms: expect.any(Number) },
      { stage: 'turns', outcome: 'internal_error', ms: expect.any(Number) },
    ],
    async (call, parts) => {
      const taken = parts.turns.take({} as never, undefined, undefined);
      await intern(call, parts);
      await taken;
    },
  ],
  [
    'the last that waited, for an error of its own',
    [{ stage: 'intern', outcome: 'internal_error', ms: expect.any(Number) }],
    async (call, parts) => {
      await intern(call, parts);
      throw new TypeError('secret');
    },
  ],
  [
    'a stage that waits for nothing, without a time, with the reason of a refusal',
    [
      { stage: 'intern', outcome: 'passed', ms: expect.any(Number) },
      { stage: 'gate', outcome: 'access_revoked', why: 'member removed' },
    ],
    async (call, parts) => {
      await intern(call, parts);
      throw new SigningError('access_revoked', 'member removed');
    },
  ],
  [
    'the clock, which only fails',
    [{ stage: 'clock', outcome: 'internal_error' }],
    () => Promise.reject(new DependencyError('clock', 'wrong')),
  ],
  [
    'the queue, for an account with too many at once',
    [{ stage: 'queue', outcome: 'rate_limited' }],
    () => Promise.reject(new BusyError('account')),
  ],
  [
    'the host, before any wait',
    [{ stage: 'host', outcome: 'internal_error' }],
    () => Promise.reject(new Error()),
  ],
])('a failure is blamed on %s', async (_what, stages, sign) => {
  expect((await stagesOf(sign)).stages).toEqual(stages);
});
