import type { ProofHeaderValues } from '@ori/proof/wire';
import { expect, onTestFinished, test, vi } from 'vitest';
import { CliError, messageOf } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import type { Surroundings } from '../session/context.ts';
import { readAnswer } from './daemon-answer.ts';
import { deliver } from './deliver.ts';

const PROOF = { 'x-ori-invoke-user': 'ada', 'x-ori-invoke-timestamp': '1789000000' } as ProofHeaderValues;

/** The answer of a daemon, or of a gateway, which has no code of ours. */
function answered(status: number, text: string) {
  async function* body(): AsyncGenerator<Buffer> {
    yield Buffer.from(text);
  }
  return readAnswer({ status, headers: {}, body: body(), end() {} } as never);
}

/** What is the same in each delivery: nobody waits between two attempts. */
function delivery(isKeeper = false) {
  const random = vi.spyOn(Math, 'random').mockReturnValue(-1);
  onTestFinished(() => random.mockRestore());
  return {
    surroundings: {
      terminal: { note() {} },
      interrupted: new AbortController().signal,
    } as unknown as Surroundings,
    address: 'https://daemon.test',
    seconds: 300,
    keeper: { isKnown: () => isKeeper, learn: async () => undefined },
    pauseNamed: () => undefined,
  };
}

const CUT = new CliError('answer_lost', { address: 'https://daemon.test', why: 'the connection was cut' });
const notReceived = async () => ({
  proof: PROOF,
  answer: await answered(404, '{"error":{"code":"call_not_received"}}'),
});
const failureOf = (delivered: Promise<unknown>): Promise<CliError> =>
  delivered.then(
    () => expect.unreachable(),
    (error) => error,
  );

// SPEC.md A2, A3.
test.each([
  [true, 2],
  [false, 1],
])(
  'a call that is never received (%s: by a daemon that keeps answers) is sent %d times',
  async (isKeeper, times) => {
    const send = vi.fn(async () => ({ proof: PROOF, lost: CUT }));
    const failure = await failureOf(deliver({ ...delivery(isKeeper), send, ask: notReceived }));
    expect([failure.code, messageOf(failure).exit]).toEqual(['answer_lost', EXIT.answerLost]);
    expect(messageOf(failure).next).not.toMatch(/[Tt]ry again/);
    expect(messageOf(failure).next.includes('sent 2 times')).toBe(isKeeper);
    expect(send).toHaveBeenCalledTimes(times);
  },
);

test('what fails when a call is sent again does not look as if nothing had been sent', async () => {
  const send = vi.fn(async () => ({ proof: PROOF, lost: CUT }));
  const unreachable = new CliError('unreachable', {
    what: 'the daemon',
    address: 'x',
    why: 'nothing listens there',
  });
  send.mockResolvedValueOnce({ proof: PROOF, lost: CUT }).mockRejectedValueOnce(unreachable);
  const failure = await failureOf(deliver({ ...delivery(true), send, ask: notReceived }));
  expect([failure.code, messageOf(failure).exit]).toEqual(['answer_lost', EXIT.answerLost]);
});

test('a gateway that answers for the daemon is asked for five seconds, and its answer is given', async () => {
  let nowMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  onTestFinished(() => clock.mockRestore());
  const answer = await answered(502, 'Bad Gateway');
  const ask = vi.fn(async () => {
    nowMs += 1000;
    return { proof: PROOF, answer: await answered(502, 'Bad Gateway') };
  });
  const delivered = await deliver({
    ...delivery(),
    send: async () => ({ proof: PROOF, answer }),
    ask,
  });
  expect(delivered.answer.status).toBe(502);
  expect(ask).toHaveBeenCalledTimes(5);
});
