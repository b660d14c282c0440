import type { ProofHeaderValues } from '@ori/proof/wire';
import { expect, onTestFinished, test, vi } from 'vitest';
import { CliError, messageOf } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import type { Context } from './context.ts';
import { readAnswer } from './daemon-answer.ts';
import { deliver } from './lost-answer.ts';

const PROOF = { 'x-ori-invoke-user': 'ada', 'x-ori-invoke-timestamp': '1789000000' } as ProofHeaderValues;

async function* notReceived(): AsyncGenerator<Buffer> {
  yield Buffer.from('{"error":{"code":"call_not_received"}}');
}

test('a call that the daemon never receives is signed again seven times, and is then unreachable', async () => {
  // No pause between two attempts.
  const random = vi.spyOn(Math, 'random').mockReturnValue(-1);
  onTestFinished(() => random.mockRestore());
  const send = vi.fn(async () => ({
    proof: PROOF,
    lost: new CliError('answer_lost', { address: 'https://daemon.test', why: 'the connection was cut' }),
  }));
  const delivered = deliver({
    context: {
      terminal: { note() {} },
      interrupted: new AbortController().signal,
    } as unknown as Context,
    origin: new URL('https://daemon.test'),
    seconds: 300,
    send,
    async ask() {
      const response = { status: 404, headers: {}, body: notReceived(), end() {} };
      return { proof: PROOF, answer: await readAnswer(response as never) };
    },
  });
  const failure: CliError = await delivered.then(
    () => expect.unreachable(),
    (error) => error,
  );
  expect([failure.code, messageOf(failure).exit]).toEqual(['unreachable', EXIT.unavailable]);
  expect(send).toHaveBeenCalledTimes(8);
});
