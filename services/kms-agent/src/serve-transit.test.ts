import { setImmediate } from 'node:timers/promises';
import { capturedLog } from '@ori/test-env/captured-log';
import { serve as serveAt } from '@ori/test-env/serve';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type AgentKey, serveTransit } from './serve-transit.ts';

const KEK = Buffer.alloc(32, 7);
const POLL = { interval: 5 };

/** A server around a key of which each call waits until it is let through. */
async function serve({ deadlineMs, bytes = KEK }: { deadlineMs?: number; bytes?: Buffer } = {}) {
  const waiting: (() => void)[] = [];
  let calls = 0;
  const key: AgentKey = {
    wrap: async () => 'wrapped',
    async unwrap(_wrapped, signal) {
      calls += 1;
      await new Promise<void>((resolve, reject) => {
        waiting.push(resolve);
        signal.addEventListener('abort', () => reject(signal.reason));
      });
      return Buffer.from(bytes);
    },
  };
  const { log, lines } = capturedLog();
  const served = await serveAt(serveTransit(key, log, deadlineMs));
  const url = `${served.url}/v1/transit/decrypt/kek`;
  return {
    lines,
    calls: () => calls,
    begun: (count: number) => expect.poll(() => calls, POLL).toBe(count),
    left: () => lines.filter(({ why }) => why === 'the caller disconnected').length,
    letThrough: () => waiting.shift()?.(),
    async ask(signal?: AbortSignal): Promise<number> {
      const body = JSON.stringify({ ciphertext: 'x' });
      return (await fetch(url, { method: 'POST', body, ...(signal && { signal }) })).status;
    },
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  };
}

it('does nothing for 320 callers that left, and answers the one that waits', async () => {
  await using agent = await serve();
  const first = agent.ask();
  await agent.begun(1);
  for (let round = 1; round <= 10; round++) {
    const leaving = new AbortController();
    const left = Array.from({ length: 33 }, () => agent.ask(leaving.signal));
    // The queue is full once one of them is refused.
    expect(await Promise.race(left)).toBe(503);
    leaving.abort();
    await Promise.allSettled(left);
    await expect.poll(() => agent.left(), POLL).toBe(32 * round);
  }
  const honest = agent.ask();
  agent.letThrough();
  expect(await first).toBe(200);
  await agent.begun(2);
  agent.letThrough();
  expect(await honest).toBe(200);
  expect(agent.calls()).toBe(2);
});

it('ends the call of a caller that left', async () => {
  await using agent = await serve();
  const leaving = new AbortController();
  const left = agent.ask(leaving.signal);
  await agent.begun(1);
  leaving.abort();
  await expect(left).rejects.toThrow();
  const next = agent.ask();
  await agent.begun(2);
  agent.letThrough();
  agent.letThrough();
  expect(await next).toBe(200);
});

it('lets 32 calls wait, and refuses the rest with 503', async () => {
  await using agent = await serve();
  const statuses: number[] = [];
  const all = Array.from({ length: 40 }, () => agent.ask().then((status) => void statuses.push(status)));
  await expect.poll(() => statuses, POLL).toEqual(Array(7).fill(503));
  for (let turn = 1; turn <= 33; turn++) {
    await agent.begun(turn);
    agent.letThrough();
  }
  await Promise.all(all);
  expect(statuses.filter((status) => status === 200)).toHaveLength(33);
});

it('answers 503 at its deadline, in the queue too', async () => {
  await using agent = await serve({ deadlineMs: 50 });
  expect(await Promise.all([agent.ask(), agent.ask()])).toEqual([503, 503]);
  expect(agent.lines).toHaveLength(2);
});

it('answers within the five seconds that callers wait', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  await using agent = await serve();
  const asked = agent.ask();
  while (agent.calls() === 0) await setImmediate();
  vi.advanceTimersByTime(4999);
  expect(await asked).toBe(503);
});

it.each([31, 47, 80])('gives out only KEKs: %i bytes are refused', async (length) => {
  await using agent = await serve({ bytes: Buffer.alloc(length, 1) });
  const asked = agent.ask();
  await agent.begun(1);
  agent.letThrough();
  expect(await asked).toBe(400);
});
