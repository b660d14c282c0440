import { expect, it } from 'vitest';
import { createLogKeys, isSeed, renderVkeys } from './log-keys.ts';
import { parseVkey } from './note.ts';

const ORIGIN = 'log.example/log';
const seed = Buffer.alloc(32, 1).toString('base64');
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

it('takes only 32 bytes of base64 for a seed', () => {
  expect(isSeed(seed)).toBe(true);
  for (const wrong of ['', 'A', seed.slice(1), seed.replace('=', ''), `${seed}\n`, 'A'.repeat(40)])
    expect(isSeed(wrong)).toBe(false);
});

it('a log is named by its origin, and its cosigner by a name below it; the verifier keys are those it signs with', () => {
  const keys = createLogKeys(ORIGIN, seed);
  const own = [keys.log, keys.logMlDsa, ...keys.complete].map(({ publicKey }) => hex(publicKey));
  const { log, logMlDsa, complete, completeMlDsa } = renderVkeys(keys);
  const read = [log, logMlDsa, complete, completeMlDsa].map(parseVkey);
  expect(read.map(({ publicKey }) => hex(publicKey))).toEqual(own);
  expect(new Set(own)).toHaveProperty('size', 4);
  expect(read.map(({ name, type }) => [name, type])).toEqual([
    [ORIGIN, 1],
    [ORIGIN, 6],
    [`${ORIGIN}/complete`, 4],
    [`${ORIGIN}/complete`, 6],
  ]);
});

it('each intern has another key for version 1, and the same after a restart', () => {
  const [keys, again] = [createLogKeys(ORIGIN, seed), createLogKeys(ORIGIN, seed)];
  expect(hex(keys.v1KeyOf('int_1'))).toMatch(/^[0-9a-f]{64}$/);
  expect(again.v1KeyOf('int_1')).toEqual(keys.v1KeyOf('int_1'));
  expect(keys.v1KeyOf('int_2')).not.toEqual(keys.v1KeyOf('int_1'));
});
