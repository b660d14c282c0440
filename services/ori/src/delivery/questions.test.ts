import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { ProofHeaderValues } from '@ori/proof/wire';
import { expect, test } from 'vitest';
import type { Surroundings } from '../session/context.ts';
import { readAnswer } from './daemon-answer.ts';
import { questionsAbout } from './questions.ts';

const PROOF = { 'x-ori-invoke-user': 'ada', 'x-ori-invoke-timestamp': '1789000000' } as ProofHeaderValues;

/** A refusal of the handler, that the daemon has kept. It breaks behind its first bytes, or does not. */
async function* bodyOf(isBroken: boolean): AsyncGenerator<Buffer> {
  yield Buffer.from('{"sold":');
  if (isBroken) throw new Error('the connection was cut');
  yield Buffer.from('"out"}');
}

const surroundings = {
  terminal: { note() {} },
  interrupted: new AbortController().signal,
} as unknown as Surroundings;

test('asks a daemon that says nothing for less time than one that says that the call runs', async () => {
  const running = {
    status: 409,
    headers: {},
    body: Readable.from([Buffer.from('{"error":{"code":"call_running"}}')]),
    end() {},
  };
  const ended = {
    ...running,
    status: 410,
    body: Readable.from([Buffer.from('{"error":{"code":"answer_lost"}}')]),
  };
  const answers = [running, ended];
  const asking = { surroundings, address: '', seconds: 60, patienceSeconds: 1 };
  const silent = questionsAbout(PROOF, { ...asking, ask: async () => ({ proof: PROOF }) });
  expect((await silent('its connection was cut')).outcome).toBe('nothing');
  const told = questionsAbout(PROOF, {
    ...asking,
    ask: async () => ({
      proof: PROOF,
      answer: await readAnswer(answers.shift() as never),
    }),
  });
  expect((await told('its connection was cut')).outcome).toBe('lost');
});

test('asks again for a kept refusal that does not arrive whole', async () => {
  const cuts = [true, false];
  const ask = questionsAbout(PROOF, {
    surroundings,
    address: '',
    seconds: 60,
    async ask() {
      const body = bodyOf(cuts.shift() ?? true);
      const response = { status: 409, headers: { 'ori-answer': 'kept' }, body, end() {} };
      return { proof: PROOF, answer: await readAnswer(response as never) };
    },
  });
  const { outcome, kept } = await ask('the connection was cut');
  expect(outcome).toBe('kept');
  expect(await text(Readable.from(kept?.body ?? []))).toBe('{"sold":"out"}');
});
