import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createCallEnds } from './call-end.ts';

const policy = { internId: 'int_1', maxAgeSeconds: 60, clockToleranceSeconds: 2, acceptV1: false };
const CALL = { policy, user: 'ada', nonce: 'A'.repeat(22) };
const END = { status: 200, headers: { 'x-own': '1' }, body: Buffer.from('mine') };

test('a sealed answer that was changed, or moved to another call, is lost', () => {
  const { render, parse } = createCallEnds(randomBytes(32));
  const sealed = render(CALL, END);
  expect(parse(CALL, sealed)).toEqual(END);
  const others = [
    { user: 'mallory' },
    { nonce: 'B'.repeat(22) },
    { policy: { ...policy, internId: 'int_2' } },
  ];
  for (const change of others) expect(parse({ ...CALL, ...change }, sealed)).toBe('lost');
  for (let at = 'sealed:'.length; at < sealed.length - 4; at += 7) {
    const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1);
    expect(parse(CALL, changed)).toBe('lost');
  }
  expect(parse(CALL, 'sealed:')).toBe('lost');
  expect(parse(CALL, createCallEnds(undefined).render(CALL, END))).toBe('lost');
});
