import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import type { ReplayPolicy } from './replay-store.ts';
import { attend, requireSharedOptions, surviveErrors } from './shared-store.ts';

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
  expect([surviveErrors(client), surviveErrors(client)]).toEqual([true, false]);
  expect(client.listenerCount('error')).toBe(1);
  expect(() => client.emit('error', new Error('the connection broke'))).not.toThrow();
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
