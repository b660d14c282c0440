import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { UnavailableError } from '@ori/proof/wire';
import { serveInTest } from '@ori/test-env/serve-in-test';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { ReplayPolicy } from './replay-store.ts';
import { attend, requireSharedOptions, surviveErrors, watchSilence, within } from './shared-store.ts';

it.each([new Uint8Array(31), new Uint8Array(33), new Uint8Array(), 'k'.repeat(32)])(
  'refuses %o as the key of answers',
  (answersKey) => {
    const options = { answersKey: answersKey as Uint8Array };
    expect(() => requireSharedOptions(options, [], 'store')).toThrow(
      new TypeError('answersKey: expected 32 bytes'),
    );
  },
);

it.each([undefined, new Uint8Array(32), Buffer.alloc(32)])('takes %o as the key of answers', (answersKey) => {
  expect(() => requireSharedOptions({ answersKey }, [], 'store')).not.toThrow();
});

it.each(['timeoutMs', 'touchSeconds'] as const)(
  '%s has the default of the README, in both stores',
  (name) => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    const stated = [...readme.matchAll(new RegExp(`^\\| \`${name}\` \\| (\\d+) \\|`, 'gm'))];
    const value = String(requireSharedOptions({}, [], 'store')[name]);
    expect(stated.map(([, figure]) => figure)).toEqual([value, value]);
  },
);

it('listens once for the errors of a client, however many stores use it', () => {
  const client = new EventEmitter();
  expect(surviveErrors(client)).toBe(surviveErrors(client));
  expect(client.listenerCount('error')).toBe(1);
  const broke = new Error('the connection broke');
  expect(() => client.emit('error', broke)).not.toThrow();
  expect(surviveErrors(client)()).toBe(broke);
  client.emit('ready');
  expect(surviveErrors(client)()).toBeUndefined();
});

const POLICY: ReplayPolicy = {
  internId: 'int_1',
  maxAgeSeconds: 60,
  clockToleranceSeconds: 2,
  acceptV1: false,
};
const ANSWERS = { bytesMax: 1, noStore: false };

function attended(touchSeconds: number) {
  const attendance = attend(touchSeconds, async () => {});
  onTestFinished(() => attendance.close());
  return attendance;
}

it('waits until it is ready for nothing but a store that is unavailable', async () => {
  const wrong = new RangeError('a bug');
  const look = vi.fn().mockRejectedValueOnce(new UnavailableError('replay_store_unavailable', 'down'));
  const attendance = attend(5, look.mockRejectedValue(wrong));
  onTestFinished(() => attendance.close());
  attendance.policies.set('int_1', POLICY);
  await expect(attendance.ready(5000)).rejects.toBe(wrong);
  expect(look).toHaveBeenCalledTimes(2);
});

it('wants signs of life of a process that keeps answers at least every five seconds', () => {
  expect(() => attended(5.1).attach({ ...POLICY, answers: ANSWERS })).toThrow(
    new TypeError('touchSeconds: expected at most 5 with answers'),
  );
  expect(() => attended(5).attach({ ...POLICY, answers: ANSWERS })).not.toThrow();
  expect(() => attended(60).attach(POLICY)).not.toThrow();
});

it('keeps answers and version 1 for an intern if one of its verifiers wants them', () => {
  const { attach, policies } = attended(2);
  attach({ ...POLICY, answers: ANSWERS });
  expect(policies.get('int_1')).toMatchObject({ acceptV1: false, answers: ANSWERS });
  attach({ ...POLICY, acceptV1: true });
  attach(POLICY);
  expect(policies.get('int_1')).toMatchObject({ acceptV1: true, answers: ANSWERS });
});

it('does not count the time in which this process computes, and reads what has arrived', async () => {
  const server = createServer((socket) => socket.pipe(socket));
  const { port } = await serveInTest(server);
  const client = connect(port, '127.0.0.1');
  onTestFinished(() => void client.destroy());
  const answer = within(200, once(client, 'data'), () => new Error('late'));
  await once(client, 'connect');
  await new Promise((resolve) => client.write('x', resolve));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  await expect(answer).resolves.toBeDefined();
});

it('two answers that are missing in a row replace the connections, at most once a second', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const reopen = vi.fn();
  const { heard, missed } = watchSilence(reopen);
  const times = (count: number) => expect(reopen).toHaveBeenCalledTimes(count);
  missed();
  heard();
  missed();
  times(0);
  missed();
  times(1);
  for (let more = 0; more < 9; more += 1) missed();
  times(1);
  vi.advanceTimersByTime(1001);
  missed();
  times(2);
});
