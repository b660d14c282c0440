import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { type JudgingDaemon, STREAM } from './judging-daemon.ts';

/**
 * Requires that the beginning of a stream arrives while the daemon has more to say, and that the daemon learns that its
 * client left.
 *
 * @param writing only once it writes again
 */
export async function expectStream(daemon: JudgingDaemon, port: number, writing = false): Promise<void> {
  const called = once(daemon.server, 'request');
  const leaving = new AbortController();
  const answer = await fetch(`http://127.0.0.1:${port}${STREAM.path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...daemon.signer.sign({ path: STREAM.path, body: '{}' }) },
    body: '{}',
    signal: leaving.signal,
  });
  const [, response] = (await called) as [IncomingMessage, ServerResponse];
  const left = once(response, 'close');
  const { value } = (await answer.body?.getReader().read()) ?? {};
  expect(new TextDecoder().decode(value)).toBe(STREAM.begins);
  leaving.abort();
  while (writing && !response.closed) {
    response.write(STREAM.begins);
    await pause(10);
  }
  await left;
  expect(response.writableFinished).toBe(false);
}
