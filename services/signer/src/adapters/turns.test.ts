import type { TurnLimiter } from '@ori/turns';
import { expect, test, vi } from 'vitest';
import { VERDICT } from '../stages/stages.fixture.ts';
import { DependencyError } from './dependency-error.ts';
import { memoryNonces, type Nonces } from './nonces.ts';
import { limiterTurns } from './turns.ts';

const who = { userId: 'user_1', organizationId: 'org_1' };
const refused = { ...VERDICT, allowed: false, remaining: 0, retryAfterSeconds: 7 };

function nonces(given: Partial<Nonces> = {}) {
  const memory = memoryNonces(65);
  const reserve = vi.fn(memory.reserve);
  const reservation = { internId: 'int_1', nonce: memory.draw(), signingInput: Buffer.from('input') };
  return { ...memory, ...given, reserve, reservation };
}
const claim = { key: 'key', value: 'value', keptMs: 65_000 };
const inRedis = () => nonces({ claimOf: () => claim });

test('one question to Redis does for the turn and the nonce', async () => {
  const take = vi.fn(async () => VERDICT);
  const takeAndClaim = vi.fn(async () => ({ verdict: VERDICT, claimed: true }));
  const { reservation, reserve, ...store } = inRedis();
  const turns = limiterTurns({ take, takeAndClaim }, { ...store, reserve });
  expect(await turns.take(who, reservation)).toEqual({ verdict: VERDICT, reserved: true });
  expect(takeAndClaim).toHaveBeenCalledExactlyOnceWith(who, claim);
  expect(take).not.toHaveBeenCalled();
  expect(reserve).not.toHaveBeenCalled();
});

const apart: [string, TurnLimiter, ReturnType<typeof nonces>][] = [
  ['the limiter holds no other keys', { take: async () => VERDICT }, inRedis()],
  [
    'the nonces are not in Redis',
    { take: async () => VERDICT, takeAndClaim: async () => ({ verdict: VERDICT, claimed: false }) },
    nonces(),
  ],
];

test.each(apart)('the nonce is reserved after the turn where %s', async (_, limiter, store) => {
  const { reservation } = store;
  const turns = limiterTurns(limiter, store);
  expect(await turns.take(who, reservation)).toEqual({ verdict: VERDICT, reserved: true });
  expect(await turns.take(who, reservation)).toEqual({ verdict: VERDICT, reserved: false });
});

test('a turn that is refused reserves nothing', async () => {
  const store = nonces();
  const turns = limiterTurns({ take: async () => refused }, store);
  expect(await turns.take(who, store.reservation)).toEqual({ verdict: refused, reserved: false });
  expect(store.reserve).not.toHaveBeenCalled();
});

test('a v1 proof takes a turn and reserves nothing', async () => {
  const store = inRedis();
  const takeAndClaim = vi.fn(async () => ({ verdict: VERDICT, claimed: true }));
  const turns = limiterTurns({ take: async () => VERDICT, takeAndClaim }, store);
  expect(await turns.take(who, undefined)).toEqual({ verdict: VERDICT, reserved: false });
  expect(takeAndClaim).not.toHaveBeenCalled();
});

test.each(['take', 'takeAndClaim'] as const)(
  'a Redis that fails at %s is a dependency that failed',
  async (at) => {
    const fail = () => Promise.reject(new Error('gone'));
    const store = inRedis();
    const turns = limiterTurns({ take: fail, takeAndClaim: fail }, store);
    const taking = turns.take(who, at === 'take' ? undefined : store.reservation);
    await expect(taking).rejects.toBeInstanceOf(DependencyError);
    await expect(taking).rejects.toMatchObject({ dependency: 'redis' });
  },
);

test.each([true, false])('a Redis that may forget is not asked (with a nonce: %s)', async (isWithNonce) => {
  const take = vi.fn(async () => VERDICT);
  const takeAndClaim = vi.fn(async () => ({ verdict: VERDICT, claimed: true }));
  const store = inRedis();
  const eviction = { isSafe: false, require: () => Promise.reject(new Error('evicts')) };
  const turns = limiterTurns({ take, takeAndClaim }, store, eviction as never);
  const taking = turns.take(who, isWithNonce ? store.reservation : undefined);
  await expect(taking).rejects.toMatchObject({ dependency: 'redis' });
  expect(take).not.toHaveBeenCalled();
  expect(takeAndClaim).not.toHaveBeenCalled();
});
