import type { PublishedKeyRow } from '@ori/store/signer';
import { expect, test } from 'vitest';
import { Written } from '../core/stages/evidence.ts';
import { createKeyRecord } from './key-record.ts';

const KEY: PublishedKeyRow = {
  kid: 'kid_1',
  publicKey: new Uint8Array(32).fill(251),
  notBefore: 1_789_000_000,
  expiresAt: 1_789_000_600,
  statement: null,
};
const KEYS = [KEY, { ...KEY, kid: 'kid_2' }, { ...KEY, kid: 'kid_3' }];
const TIME = '2026-09-10T12:00:00.000Z';
const LATER = '2026-09-10T12:00:05.000Z';

/** @param writing what a line waits for until it is written */
function recorded(writing: (line: string) => unknown = () => {}) {
  const lines: string[] = [];
  const clock = { time: TIME };
  const append = async (line: string) => {
    await writing(line);
    lines.push(line);
    return new Written(line);
  };
  const record = createKeyRecord({ audit: { append }, now: () => Date.parse(clock.time) });
  return { record, clock, lines, facts: (name: string) => lines.map((line) => JSON.parse(line)[name]) };
}

test.each([
  ['its expiry', KEY.expiresAt, ',"expiresAt":1789000600'],
  ['an expiry at the epoch', 0, ',"expiresAt":0'],
  ['no expiry if it has none', null, ''],
])('a line has the facts of a key, and %s', async (_, expiresAt, end) => {
  const { record, lines } = recorded();
  await record('int_1', [{ ...KEY, expiresAt }]);
  const start = `{"time":"${TIME}","event":"key_published","internId":"int_1","keyId":"kid_1"`;
  expect(lines).toEqual([`${start},"x":"${'-_v7'.repeat(10)}-_s","notBefore":1789000000${end}}`]);
});

test('each key has one line, at no later time another, and none for its statement', async () => {
  const { record, clock, facts } = recorded();
  await record('int_1', []);
  await record('int_1', KEYS);
  clock.time = LATER;
  await record('int_1', KEYS);
  await record('int_1', [{ ...KEY, statement: 'c3RhdGVk' }]);
  expect(facts('keyId')).toEqual(['kid_1', 'kid_2', 'kid_3']);
});

test.each<[string, string, Partial<PublishedKeyRow>]>([
  ['has another expiry', 'int_1', { expiresAt: 1_789_000_601 }],
  ['no longer expires', 'int_1', { expiresAt: null }],
  ['has another start', 'int_1', { notBefore: 1_789_000_001 }],
  ['has another public key', 'int_1', { publicKey: new Uint8Array(32) }],
  ['has another name', 'int_1', { kid: 'kid_2' }],
  ['is that of another intern', 'int_2', {}],
])('a key is recorded once again, with the time, if it %s', async (_, internId, change) => {
  const { record, clock, facts } = recorded();
  await record('int_1', [KEY]);
  clock.time = LATER;
  for (let times = 0; times < 2; times++) await record(internId, [{ ...KEY, ...change }]);
  await record('int_1', [KEY]);
  expect(facts('time')).toEqual([TIME, LATER]);
});

test('a key whose line was not written is recorded again, and no other', async () => {
  const refused = new Set(['kid_2']);
  const { record, facts } = recorded((line) => {
    if (refused.has(JSON.parse(line).keyId)) throw new TypeError('disk full');
  });
  for (let times = 0; times < 2; times++) await expect(record('int_1', KEYS)).rejects.toThrow(TypeError);
  refused.clear();
  await record('int_1', KEYS);
  expect(facts('keyId')).toEqual(['kid_1', 'kid_3', 'kid_2']);
});

test('whoever asks for a key waits until its line is written', async () => {
  const disk = Promise.withResolvers<void>();
  const { record, lines } = recorded(() => disk.promise);
  const seen: number[] = [];
  const asked = [1, 2].map(() => record('int_1', [KEY]).then(() => seen.push(lines.length)));
  await new Promise(setImmediate);
  expect(seen).toEqual([]);
  disk.resolve();
  await Promise.all(asked);
  expect(seen).not.toContain(0);
});
