import { randomUUID } from 'node:crypto';
import { connectRedis, type RedisClient } from '@ori/redis/connection';
import { Secret } from '@ori/runtime/secret';
import { type RedisServer, sharedRedisUrl, startRedis } from '@ori/test-env/redis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createClusterTurns } from './cluster.ts';
import { createTurnLimiter, limiterOf, type TurnLimiter, turnKey } from './limiter.ts';
import { createMemoryTurnLimiter } from './memory.ts';
import { rateLimitHeaders } from './rate-limit-headers.ts';
import { TurnLimiterUnavailable } from './store.ts';
import type { TurnTaker } from './turn.ts';

const limits = { turnsPerUser: 3, turnsPerOrganization: 5, windowSeconds: 60 };

let redis: RedisClient;
beforeAll(async () => {
  redis = connectRedis(new Secret(sharedRedisUrl()), {
    purpose: 'turns-test',
    commandTimeoutMs: 5000,
    socketTimeoutMs: 5000,
  });
  await new Promise((resolve) => redis.once('ready', resolve));
});
afterAll(() => redis.disconnect());

const person = (userId: string = randomUUID(), organizationId: string = randomUUID()) => ({
  userId,
  organizationId,
});

async function takeMany(limiter: TurnLimiter, who: TurnTaker, times: number): Promise<number> {
  const verdicts = await Promise.all(Array.from({ length: times }, () => limiter.take(who)));
  return verdicts.filter(({ allowed }) => allowed).length;
}

const used = async (scope: 'user' | 'organization', id: string) =>
  Number((await redis.get(turnKey(scope, id))) ?? 0);

describe.each([
  ['in memory', createMemoryTurnLimiter],
  ['on Redis', (options: typeof limits) => createTurnLimiter({ ...options, redis })],
])('turns %s', (_name, create) => {
  const limiter = (more: Partial<typeof limits> = {}) => create({ ...limits, ...more });

  it('are refunded to the window they were charged to', async () => {
    const turns = limiter({ turnsPerOrganization: 3 });
    const who = person();
    await takeMany(turns, who, 2);
    const verdict = await turns.take(who);
    const refused = await turns.take(who);
    expect(refused.allowed).toBe(false);
    await turns.refund(who, refused);
    expect((await turns.take(who)).allowed).toBe(false);
    await turns.refund(who, verdict);
    expect(await turns.take(who)).toMatchObject({ allowed: true, remaining: 0 });
    const endingIn = (ms: number) => {
      const end = performance.now() + ms;
      return { ...verdict, windowEnds: { user: end, organization: end } };
    };
    // As late as after a second in which this process, or Redis, stood still.
    await turns.refund(who, endingIn(limits.windowSeconds * 1000 + 1000));
    expect(await turns.take(who)).toMatchObject({ allowed: true, remaining: 0 });
    // A verdict of another window: what it took is not in this one.
    await turns.refund(who, endingIn(5000));
    expect((await turns.take(who)).allowed).toBe(false);
  });

  it('are refunded no more often than they were taken', async () => {
    const turns = limiter();
    const [who, other] = [person(), person()];
    const verdict = await turns.take(who);
    for (const refunded of [who, who, other]) await turns.refund(refunded, verdict);
    expect([await takeMany(turns, who, 9), await takeMany(turns, other, 9)]).toEqual([3, 3]);
  });

  it('are never allowed by a limit of zero, which is worth asking about after a window', async () => {
    const none = { ...person(), limits: { user: 0 } };
    expect(await limiter().take(none)).toMatchObject({ allowed: false, retryAfterSeconds: 60 });
  });

  it('are taken up to the user’s limit, and tell what is left', async () => {
    const turns = limiter();
    const who = person();
    const verdicts = [
      await turns.take(who),
      await turns.take(who),
      await turns.take(who),
      await turns.take(who),
    ];
    expect(verdicts.map(({ allowed, remaining, scope }) => [allowed, remaining, scope])).toEqual([
      [true, 2, 'user'],
      [true, 1, 'user'],
      [true, 0, 'user'],
      [false, 0, 'user'],
    ]);
    const { retryAfterSeconds, resetSeconds } = verdicts[3] ?? {};
    expect(retryAfterSeconds).toBe(resetSeconds);
    expect(retryAfterSeconds).toBeGreaterThanOrEqual(1);
    expect(retryAfterSeconds).toBeLessThanOrEqual(60);
    expect(Number.isInteger(retryAfterSeconds)).toBe(true);
    expect(verdicts[0]).not.toHaveProperty('retryAfterSeconds');
  });

  it('are limited for the organization, across its users', async () => {
    const turns = limiter();
    const { organizationId } = person();
    const allowed: boolean[] = [];
    for (let user = 0; user < 7; user++)
      allowed.push((await turns.take(person(undefined, organizationId))).allowed);
    expect(allowed).toEqual([true, true, true, true, true, false, false]);
    expect((await turns.take(person(undefined, organizationId))).scope).toBe('organization');
  });

  it('are limited by what the organization has of its own, more or less than the others', async () => {
    const turns = limiter();
    const [more, less, other] = [person(), person(), person()];
    const own = { ...more, limits: { user: 6, organization: 7 } };
    expect(await takeMany(turns, own, 10)).toBe(6);
    expect(await turns.take(own)).toMatchObject({
      allowed: false,
      limits: { user: 6, organization: 7 },
    });
    expect(await takeMany(turns, { ...person(undefined, more.organizationId), limits: own.limits }, 3)).toBe(
      1,
    );
    expect(await takeMany(turns, { ...less, limits: { organization: 2 } }, 3)).toBe(2);
    expect(await takeMany(turns, { ...other, limits: {} }, 5)).toBe(3);
  });

  it('refused for the user cost the organization nothing', async () => {
    const turns = limiter();
    const who = person();
    await takeMany(turns, who, 3);
    for (let refused = 0; refused < 20; refused++) expect((await turns.take(who)).allowed).toBe(false);
    const { organizationId } = who;
    expect(await takeMany(turns, person(undefined, organizationId), 1)).toBe(1);
    expect(await takeMany(turns, person(undefined, organizationId), 1)).toBe(1);
    expect(await takeMany(turns, person(undefined, organizationId), 1)).toBe(0);
  });

  it('refused for the organization cost the user nothing', async () => {
    const turns = limiter();
    const full = person().organizationId;
    for (let user = 0; user < 5; user++) await turns.take(person(undefined, full));
    const { userId } = person();
    for (let refused = 0; refused < 20; refused++)
      expect((await turns.take(person(userId, full))).allowed).toBe(false);
    const elsewhere = person(userId);
    for (let turn = 0; turn < 3; turn++) expect((await turns.take(elsewhere)).allowed).toBe(true);
    expect((await turns.take(elsewhere)).allowed).toBe(false);
  });

  it('tell about the counter that has less left', async () => {
    expect(await limiter({ turnsPerOrganization: 2 }).take(person())).toMatchObject({
      scope: 'organization',
      remaining: 1,
    });
    expect(await limiter().take(person())).toMatchObject({ scope: 'user', remaining: 2 });
  });

  it('are free again in a new window, and refusals do not prolong the old one', async () => {
    const turns = limiter({ windowSeconds: 1 });
    const who = person();
    expect(await takeMany(turns, who, 10)).toBe(3);
    // Asking all the time: if a refusal prolonged the window, it would never end.
    await expect.poll(() => turns.take(who)).toMatchObject({ allowed: true, remaining: 2 });
  });

  it('keep users apart whatever their ids hold', async () => {
    const turns = limiter({ turnsPerUser: 1, turnsPerOrganization: 100 });
    const { organizationId } = person();
    const tag = randomUUID();
    for (const id of [
      `${tag}`,
      `${tag}}`,
      `{${tag}`,
      `${tag}:`,
      `${tag} `,
      `${tag}\u0000`,
      `${tag.toUpperCase()}`,
    ]) {
      expect((await turns.take({ userId: id, organizationId })).allowed).toBe(true);
    }
  });
});

it('turns in memory are free again once their window is over, even if its timer is late', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    const turns = createMemoryTurnLimiter(limits);
    const who = person();
    await takeMany(turns, who, 3);
    vi.setSystemTime(Date.now() + 60_000);
    expect(await turns.take(who)).toMatchObject({ allowed: true, remaining: 2 });
  } finally {
    vi.useRealTimers();
  }
});

describe('turns on Redis', () => {
  it('are counted under hashed names, which expire', async () => {
    const who = person(`alice}${randomUUID()}@example.org`);
    await createTurnLimiter({ ...limits, redis }).take(who);
    expect(turnKey('user', who.userId)).toMatch(/^ori:turns:user:\{[0-9a-f]{64}\}$/);
    expect(turnKey('organization', 'o')).toMatch(/^ori:turns:organization:\{[0-9a-f]{64}\}$/);
    for (const key of [turnKey('user', who.userId), turnKey('organization', who.organizationId)]) {
      const ttl = await redis.pttl(key);
      expect(ttl).toBeGreaterThan(0);
      expect(ttl).toBeLessThanOrEqual(60_000);
      await redis.del(key);
    }
  });

  it('are exact over eight limiters at once, and leave both counters exact', async () => {
    const limiters = Array.from({ length: 8 }, () =>
      createTurnLimiter({ redis, turnsPerUser: 60, turnsPerOrganization: 1000, windowSeconds: 60 }),
    );
    const who = person();
    const allowed = await Promise.all(limiters.map((limiter) => takeMany(limiter, who, 50)));
    expect(allowed.reduce((sum, count) => sum + count, 0)).toBe(60);
    expect(await used('user', who.userId)).toBe(60);
    expect(await used('organization', who.organizationId)).toBe(60);
  });

  it('leave exactly the allowed turns in the counters after many refusals for either reason', async () => {
    const limiter = createTurnLimiter({
      redis,
      turnsPerUser: 40,
      turnsPerOrganization: 100,
      windowSeconds: 60,
    });
    const { organizationId } = person();
    const users = Array.from({ length: 4 }, () => randomUUID());
    const allowed = await Promise.all(
      users.map((userId) => takeMany(limiter, { userId, organizationId }, 100)),
    );
    const total = allowed.reduce((sum, count) => sum + count, 0);
    expect(total).toBeLessThanOrEqual(100);
    expect(await used('organization', organizationId)).toBe(total);
    for (const [index, userId] of users.entries()) expect(await used('user', userId)).toBe(allowed[index]);
  });

  it('refused for both are worth asking for when the later window ends', async () => {
    for (const [userMs, organizationMs] of [
      [9_500, 30_500],
      [30_500, 9_500],
    ] as const) {
      const who = person();
      await redis.set(turnKey('user', who.userId), 3, 'PX', userMs);
      await redis.set(turnKey('organization', who.organizationId), 5, 'PX', organizationMs);
      const { retryAfterSeconds } = await createTurnLimiter({ ...limits, redis }).take(who);
      expect(retryAfterSeconds).toBeGreaterThan(20);
      expect(retryAfterSeconds).toBeLessThanOrEqual(31);
    }
  });

  it('end a window whose expiry was removed', async () => {
    const who = person();
    const key = turnKey('user', who.userId);
    await redis.set(key, 1);
    expect((await createTurnLimiter({ ...limits, redis }).take(who)).remaining).toBe(1);
    expect(await redis.pttl(key)).toBeGreaterThan(0);
  });

  it.each([
    ['one Redis', () => createTurnLimiter({ ...limits, redis })],
    ['a cluster', () => limiterOf(createClusterTurns(redis, limits.windowSeconds), limits)],
  ])('end a window that began when windows were longer, on %s', async (_where, limiter) => {
    const who = person();
    await redis.set(turnKey('user', who.userId), 3, 'PX', 3_600_000);
    expect(await limiter().take(who)).toMatchObject({ allowed: false, retryAfterSeconds: 60 });
    expect(await redis.pttl(turnKey('user', who.userId))).toBeLessThanOrEqual(60_000);
  });

  it('refused for either touch neither counter, not even for a moment', async () => {
    const turns = createTurnLimiter({ ...limits, redis });
    const who = person();
    const keys = [turnKey('user', who.userId), turnKey('organization', who.organizationId)] as const;
    const watcher = connectRedis(new Secret(sharedRedisUrl()), { purpose: 'turns-test' });
    await new Promise((resolve) => watcher.once('ready', resolve));
    /** Whether the keys were written meanwhile: with whatever, even with what they held. */
    const isWritten = async (used: readonly [user: number, organization: number]) => {
      for (const [index, key] of keys.entries()) await redis.set(key, used[index] ?? 0, 'PX', 30_000);
      await watcher.watch(...keys);
      const { allowed } = await turns.take(who);
      expect(allowed).toBe(used[0] < 3 && used[1] < 5);
      return (await watcher.multi().ping().exec()) === null;
    };
    expect(await isWritten([3, 1])).toBe(false);
    expect(await isWritten([1, 5])).toBe(false);
    expect(await isWritten([1, 1])).toBe(true);
    watcher.disconnect();
  });

  it('are unavailable, and not charged, if one counter cannot be read', async () => {
    const who = person();
    const key = turnKey('organization', who.organizationId);
    await redis.lpush(key, 'not a counter');
    const limiter = createTurnLimiter({ ...limits, redis });
    await expect(limiter.take(who)).rejects.toBeInstanceOf(TurnLimiterUnavailable);
    await expect.poll(() => used('user', who.userId)).toBe(0);
    await redis.del(key);
  });
});

describe('turns on one Redis, with a key that an allowed one claims', () => {
  const limiter = () => createTurnLimiter({ ...limits, redis });
  const take = (who: ReturnType<typeof person>, key: string, value = 'mine') =>
    limiter().takeAndClaim?.(who, { allowed: { key, value, keptMs: 30_000 } });
  /** Begins an epoch of this server. @returns its key */
  const begin = async (epoch: string) => {
    const key = randomUUID();
    const [, run] = /run_id:(\w+)/.exec(await redis.info('server')) ?? [];
    await redis.set(key, `${run} ${epoch}`);
    return key;
  };

  it('set it, for as long as it is asked for', async () => {
    const key = randomUUID();
    const who = person();
    expect(await take(who, key)).toMatchObject({ verdict: { allowed: true, remaining: 2 }, claimed: true });
    expect(await redis.get(key)).toBe('mine');
    const ttl = await redis.pttl(key);
    expect(ttl).toBeGreaterThan(20_000);
    expect(ttl).toBeLessThanOrEqual(30_000);
    expect(await used('user', who.userId)).toBe(1);
  });

  it('leave a key that is already set, and stay charged', async () => {
    const key = randomUUID();
    const who = person();
    await redis.set(key, 'theirs', 'PX', 30_000);
    expect(await take(who, key)).toMatchObject({ verdict: { allowed: true }, claimed: false });
    expect(await redis.get(key)).toBe('theirs');
    expect(await used('organization', who.organizationId)).toBe(1);
  });

  it('claim nothing when they are refused, for either reason', async () => {
    const who = person();
    await takeMany(limiter(), who, 3);
    const other = person();
    await redis.set(turnKey('organization', other.organizationId), 5, 'PX', 30_000);
    for (const refused of [who, other]) {
      const key = randomUUID();
      expect(await take(refused, key)).toMatchObject({ verdict: { allowed: false }, claimed: false });
      expect(await redis.exists(key)).toBe(0);
    }
  });

  it('give the key to one of many who want it', async () => {
    const key = randomUUID();
    const taken = await Promise.all(Array.from({ length: 50 }, () => take(person(), key)));
    const answers = taken.filter((one) => typeof one === 'object');
    expect(answers.filter(({ claimed }) => claimed)).toHaveLength(1);
    expect(answers.filter(({ verdict }) => verdict.allowed)).toHaveLength(50);
  });

  it('claim nothing when a counter cannot be read', async () => {
    const who = person();
    const counter = turnKey('organization', who.organizationId);
    await redis.lpush(counter, 'not a counter');
    const key = randomUUID();
    await expect(take(who, key)).rejects.toBeInstanceOf(TurnLimiterUnavailable);
    expect(await redis.exists(key)).toBe(0);
    await redis.del(counter);
  });

  it('claim the first key even when they are refused, and do nothing if it exists', async () => {
    const who = person();
    const epoch = { key: await begin('begun'), expected: 'begun', from: 0, until: 1e12 };
    const takeFirst = (first: string, key = randomUUID()) =>
      limiter().takeAndClaim?.(who, {
        first: { key: first, value: '', keptMs: 20_000, epoch },
        allowed: { key, value: 'mine', keptMs: 30_000 },
      });
    const [once, late, key] = [randomUUID(), randomUUID(), randomUUID()];
    expect(await takeFirst(once, key)).toMatchObject({ verdict: { remaining: 2 }, claimed: true });
    expect([await redis.get(once), await redis.get(key)]).toEqual(['', 'mine']);
    expect(await redis.pttl(once)).toBeLessThanOrEqual(20_000);
    const other = randomUUID();
    expect(await takeFirst(once, other)).toBe('replayed');
    expect(await redis.exists(other)).toBe(0);
    expect(await used('user', who.userId)).toBe(1);
    await takeMany(limiter(), who, 2);
    expect(await takeFirst(late)).toMatchObject({ verdict: { allowed: false }, claimed: false });
    expect(await redis.exists(late)).toBe(1);
    expect(await takeFirst(late)).toBe('replayed');
  });

  it('claim a first key in the epoch and at the time that it expects, and in any other do nothing', async () => {
    const who = person();
    const key = randomUUID();
    const begun = await begin('begun');
    const takeIn = (expected: string, until = 1e12, epochKey = begun) => {
      const epoch = { key: epochKey, expected, from: 0, until };
      const first = { key: randomUUID(), value: '', keptMs: 20_000, epoch };
      return limiter().takeAndClaim?.(who, { first, allowed: { key, value: 'mine', keptMs: 30_000 } });
    };
    expect(await takeIn('begun', 1e12, randomUUID())).toBe('forgotten');
    expect(await takeIn('unknown')).toBe('forgotten');
    expect(await takeIn('begun', 1)).toBe('forgotten');
    expect([await redis.exists(key), await used('user', who.userId)]).toEqual([0, 0]);
    expect(await takeIn('begun')).toMatchObject({ claimed: true });
    expect(await used('user', who.userId)).toBe(1);
  });

  it('are not offered where keys live apart', () => {
    expect(createMemoryTurnLimiter(limits).takeAndClaim).toBeUndefined();
    expect(createClusterTurns(redis, 60).takeAndClaim).toBeUndefined();
  });
});

describe('turns in a Cluster, each counter charged by itself', () => {
  const keysOf = (who: ReturnType<typeof person>) => ({
    user: turnKey('user', who.userId),
    organization: turnKey('organization', who.organizationId),
  });

  it('are never refunded to a later window', async () => {
    const limiter = createClusterTurns(redis, 60);
    const limits = { user: 3, organization: 0 };
    const who = person();
    const key = turnKey('user', who.userId);
    // The refund finds a key whose window ended and restarted after the charge.
    const refund = Reflect.get(redis, 'oriTurnRefund').bind(redis);
    Reflect.set(redis, 'oriTurnRefund', async (...args: unknown[]) => {
      await redis.set(key, 2, 'PX', 30_000);
      return refund(...args);
    });
    try {
      expect((await limiter.take(keysOf(who), limits)).organization?.allowed).toBe(false);
    } finally {
      Reflect.set(redis, 'oriTurnRefund', refund);
    }
    expect(await redis.get(key)).toBe('2');
  });

  it('make no counter out of a refund whose window is over', async () => {
    const limiter = createClusterTurns(redis, 60);
    const limits = { user: 3, organization: 0 };
    const who = person();
    const key = turnKey('user', who.userId);
    const refund = Reflect.get(redis, 'oriTurnRefund').bind(redis);
    Reflect.set(redis, 'oriTurnRefund', async (...args: unknown[]) => {
      await redis.del(key);
      return refund(...args);
    });
    try {
      await limiter.take(keysOf(who), limits);
    } finally {
      Reflect.set(redis, 'oriTurnRefund', refund);
    }
    expect(await redis.exists(key)).toBe(0);
  });

  it('are judged by the limits of each charge', async () => {
    const turns = createClusterTurns(redis, 60);
    const who = person();
    for (let turn = 1; turn <= 4; turn++) {
      const counts = await turns.take(keysOf(who), { user: 4, organization: 9 });
      expect(counts).toMatchObject({ user: { allowed: true, used: turn } });
    }
    expect((await turns.take(keysOf(who), { user: 4, organization: 9 })).user?.allowed).toBe(false);
    expect((await turns.take(keysOf(who), { user: 9, organization: 9 })).user?.allowed).toBe(true);
  });

  it.each([
    ['user', 'organization'],
    ['organization', 'user'],
  ] as const)('beyond the limit of the %s do not touch the counter of the %s', async (full, other) => {
    const turns = createClusterTurns(redis, 60);
    const limits = { user: 9, organization: 9, [full]: 3 };
    const keys = keysOf(person());
    for (let turn = 0; turn < 4; turn++) await turns.take(keys, limits);
    // Touching it would fail from now on.
    await redis.del(keys[other]);
    await redis.lpush(keys[other], 'not a counter');
    expect(await turns.take(keys, limits)).toEqual({ [full]: expect.objectContaining({ allowed: false }) });
    await redis.del(keys[other]);
    // The hint is not a verdict: when there is room after all, the turn is charged to both.
    await redis.set(keys[full], 2, 'PX', 30_000);
    expect(await turns.take(keys, limits)).toMatchObject({ [full]: { allowed: true, used: 3 } });
    expect(await redis.get(keys[other])).toBe('1');
    // Without an answer of the one, the other is not asked.
    await redis.del(keys.user, keys.organization);
    await redis.lpush(keys[full], 'not a counter');
    await expect(turns.take(keys, limits)).rejects.toBeInstanceOf(TurnLimiterUnavailable);
    expect(await redis.exists(keys[other])).toBe(0);
    await redis.del(keys[full]);
  });

  it('are refunded to both counters', async () => {
    const turns = createClusterTurns(redis, 60);
    const keys = keysOf(person());
    const { user, organization } = await turns.take(keys, { user: 3, organization: 5 });
    const left = { user: user?.msBeforeReset ?? 0, organization: organization?.msBeforeReset ?? 0 };
    await turns.refund(keys, left);
    expect(await redis.mget(keys.user, keys.organization)).toEqual(['0', '0']);
  });

  it('are unavailable, and not charged, if one counter cannot be read', async () => {
    const turns = createClusterTurns(redis, 60);
    const keys = keysOf(person());
    await redis.lpush(keys.organization, 'not a counter');
    await expect(turns.take(keys, { user: 3, organization: 5 })).rejects.toBeInstanceOf(
      TurnLimiterUnavailable,
    );
    await expect.poll(() => redis.get(keys.user)).toBe('0');
    await redis.del(keys.organization);
  });
});

describe('turns without Redis', () => {
  let server: RedisServer;
  let client: RedisClient;
  beforeAll(async () => {
    server = await startRedis();
    client = connectRedis(new Secret(server.url), { purpose: 'turns-test' });
    await new Promise((resolve) => client.once('ready', resolve));
  });
  afterAll(async () => {
    client.disconnect();
    await server[Symbol.asyncDispose]();
  });

  it('are never allowed, and are counted again once it is back', async () => {
    const limiter = createTurnLimiter({ ...limits, redis: client });
    const who = person();
    expect((await limiter.take(who)).allowed).toBe(true);
    await server.freeze();
    await expect(limiter.take(who)).rejects.toMatchObject({ code: 'turn_limiter_unavailable' });
    await server.thaw();
    await server.kill();
    await expect(limiter.take(who)).rejects.toBeInstanceOf(TurnLimiterUnavailable);
    await server.start();
    await expect
      .poll(() =>
        limiter.take(person()).then(
          ({ allowed }) => allowed,
          () => false,
        ),
      )
      .toBe(true);
  });
});

describe('the headers of a verdict', () => {
  it('tell the policy, what is left and, on a refusal, when to come again', () => {
    const limits = { user: 60, organization: 600 };
    const base = { limits, windowSeconds: 60, scope: 'user', resetSeconds: 7 } as const;
    expect(rateLimitHeaders({ ...base, allowed: true, remaining: 12 })).toEqual({
      RateLimit: '"user";r=12;t=7',
      'RateLimit-Policy': '"user";q=60;w=60, "organization";q=600;w=60',
    });
    expect(rateLimitHeaders({ ...base, allowed: false, remaining: 0, retryAfterSeconds: 7 })).toMatchObject({
      'Retry-After': '7',
    });
  });
});
