import type { ProofHeaderValues } from '@ori/proof/wire';
import { expect, onTestFinished, test, vi } from 'vitest';
import { CliError, messageOf } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import type { Context } from './context.ts';
import { readAnswer } from './daemon-answer.ts';
import { deliver } from './lost-answer.ts';

const PROOF = { 'x-ori-invoke-user': 'ada', 'x-ori-invoke-timestamp': '1789000000' } as ProofHeaderValues;

/** The answer of a daemon, or of a gateway, which has no code of ours. */
function answered(status: number, text: string) {
  async function* body(): AsyncGenerator<Buffer> {
    yield Buffer.from(text);
  }
  return readAnswer({ status, headers: {}, body: body(), end() {} } as never);
}

/** What is the same in each delivery: nobody waits between two attempts. */
function delivery() {
  const random = vi.spyOn(Math, 'random').mockReturnValue(-1);
  onTestFinished(() => random.mockRestore());
  return {
    context: {
      terminal: { note() {} },
      interrupted: new AbortController().signal,
    } as unknown as Context,
    origin: new URL('https://daemon.test'),
    seconds: 300,
  };
}

test('a call that the daemon never receives is signed again seven times, and is then unreachable', async () => {
  const send = vi.fn(async () => ({
    proof: PROOF,
    lost: new CliError('answer_lost', { address: 'https://daemon.test', why: 'the connection was cut' }),
  }));
  const delivered = deliver({
    ...delivery(),
    send,
    ask: async () => ({
      proof: PROOF,
      answer: await answered(404, '{"error":{"code":"call_not_received"}}'),
    }),
  });
  const failure: CliError = await delivered.then(
    () => expect.unreachable(),
    (error) => error,
  );
  expect([failure.code, messageOf(failure).exit]).toEqual(['unreachable', EXIT.unavailable]);
  expect(send).toHaveBeenCalledTimes(8);
});

test('a gateway that answers for the daemon is asked for five seconds, and its answer is given', async () => {
  let nowMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  onTestFinished(() => clock.mockRestore());
  const answer = await answered(502, 'Bad Gateway');
  const lost = new CliError('answer_lost', { address: 'https://daemon.test', why: 'a gateway answered 502' });
  const ask = vi.fn(async () => {
    nowMs += 1000;
    return { proof: PROOF, answer: await answered(502, 'Bad Gateway') };
  });
  const delivered = await deliver({ ...delivery(), send: async () => ({ proof: PROOF, answer, lost }), ask });
  expect(delivered.answer).toBe(answer);
  expect(ask).toHaveBeenCalledTimes(5);
});
