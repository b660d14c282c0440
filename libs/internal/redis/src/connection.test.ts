import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { Secret } from '@ori/runtime/secret';
import { capturedLog } from '@ori/test-env/captured-log';
import { type RedisServer, startRedis } from '@ori/test-env/redis';
import { startSentinel } from '@ori/test-env/redis-sentinel';
import { serveInTest } from '@ori/test-env/serve-in-test';
import { createTurnLimiter } from '@ori/turns/limiter';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { connectRedis, onNodeReady, pingRedis, type RedisClient, redisTime } from './connection.ts';
import { type ScriptedRedis, startScriptedRedis } from './scripted-redis.fixture.ts';

/** The longest wait between two attempts to connect. */
const BACKOFF_MS = 250;
const AN_HOUR = 3_600_000;

let server: RedisServer;
const clients: RedisClient[] = [];
beforeEach(async () => {
  server = await startRedis({ password: 'canary-password' });
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect();
  await server[Symbol.asyncDispose]();
});

function open(url = server.url, options: Partial<Parameters<typeof connectRedis>[1]> = {}): RedisClient {
  const client = connectRedis(new Secret(url), { purpose: 'test', ...options });
  clients.push(client);
  return client;
}

async function ready(client: RedisClient): Promise<RedisClient> {
  if (client.status !== 'ready') await until(client, 'ready');
  return client;
}

/** Unlike `once` of node:events, it does not take an error event for the end. */
const until = <Argument>(client: RedisClient, event: string) =>
  new Promise<Argument>((resolve) => client.once(event, resolve));

/** Waits for a number of attempts to connect. Returns how long the client waited before each, in milliseconds. */
async function attempts(client: RedisClient, count: number): Promise<number[]> {
  const delays: number[] = [];
  while (delays.length < count) delays.push(await until<number>(client, 'reconnecting'));
  return delays;
}

describe('connectRedis', () => {
  it('names its connection for the operator', async () => {
    const client = await ready(open());
    expect(await client.client('LIST')).toContain('name=ori-test');
  });

  it('fails every command while there is no connection, long before its time is over', async () => {
    const client = await ready(open(server.url, { commandTimeoutMs: AN_HOUR }));
    await server.kill();
    await until(client, 'close');
    const outcomes = await Promise.allSettled(Array.from({ length: 100 }, () => client.incr('n')));
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
  });

  it('sends the commands of one turn of the event loop together', async () => {
    const client = (await ready(open())) as Redis;
    const answers = [client.ping(), client.ping()];
    expect(client.stream.writableCorked).toBe(1);
    expect(await Promise.all(answers)).toEqual(['PONG', 'PONG']);
  });

  it.each(['redis://127.0.0.1:1', 'redis+sentinel://127.0.0.1:1/main', 'redis+cluster://127.0.0.1:1'])(
    'fails a command at once before the first connection to %s is there',
    async (url) => {
      const refused = open(url, { commandTimeoutMs: AN_HOUR }).ping();
      await expect(Promise.race([refused, turn()])).rejects.toThrow();
    },
  );

  it('says nothing but its name when it connects, for which it needs few rights', async () => {
    using scripted = await startScriptedRedis(() => 'OK');
    await ready(open(`redis://127.0.0.1:${scripted.port}`));
    expect(scripted.asked).toEqual(['hello 3', 'client setname ori-test', 'info']);
  });

  it('gives a command up when its time is over, and then the connection', async () => {
    const client = await ready(open());
    await server.freeze();
    await expect(client.incr('n')).rejects.toThrow('Command timed out');
    await until(client, 'close');
    await expect(client.incr('n')).rejects.toThrow();
  });

  it('gives a command 200 ms and at most an eighth more, and replaces a connection that is then silent for 100', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const client = await ready(open());
    await server.freeze();
    const [failed, closed] = [vi.fn(), vi.fn()];
    client.once('close', closed);
    client.get('x').catch(failed);
    const after = async (ms: number) => {
      await vi.advanceTimersByTimeAsync(ms);
      for (let turns = 0; turns < 5; turns += 1) await turn();
      return [failed.mock.calls.length, closed.mock.calls.length];
    };
    expect(await after(224)).toEqual([0, 0]);
    expect(await after(1)).toEqual([1, 0]);
    expect(await after(103)).toEqual([1, 0]);
    expect(await after(1)).toEqual([1, 1]);
  });

  it('tries a frozen Redis again and again, never long apart, and uses it once it thaws', async () => {
    const client = await ready(open());
    await server.freeze();
    client.ping().catch(() => {});
    expect(Math.max(...(await attempts(client, 3)))).toBeLessThanOrEqual(BACKOFF_MS);
    await server.thaw();
    expect(await (await ready(client)).ping()).toBe('PONG');
  });

  it('tries a Redis that is gone again and again, never long apart, and uses it once it is back', async () => {
    const client = await ready(open());
    const waits = attempts(client, 7);
    await server.kill();
    expect(await waits).toEqual([50, 100, 150, 200, 250, 250, 250]);
    await server.start();
    expect(await (await ready(client)).ping()).toBe('PONG');
  });

  it('never sends a command again that timed out or lost its connection', async () => {
    const client = await ready(open());
    await server.freeze();
    const lost = Array.from({ length: 20 }, () => client.incr('n').catch(() => 'lost'));
    expect(await Promise.all(lost)).toEqual(Array(20).fill('lost'));
    await until(client, 'close');
    await server.thaw();
    await ready(client);
    // What the server had received may happen once, when it thaws; sent again, it would happen twice.
    expect(Number(await client.get('n'))).toBeLessThanOrEqual(20);
  });

  it('follows a script cache that the server lost', async () => {
    const client = await ready(open());
    client.defineCommand('seven', { numberOfKeys: 0, lua: 'return 7' });
    const seven = () => (client as unknown as { seven(): Promise<number> }).seven();
    expect(await seven()).toBe(7);
    await client.script('FLUSH');
    expect(await seven()).toBe(7);
  });

  it('shows no credential in its log or its errors', async () => {
    const { log, lines, text } = capturedLog();
    const client = open(server.url.replace('canary-password', 'canary-wrong'), { log });
    const error = await until(client, 'error');
    expect(String(error)).not.toContain('canary');
    await expect.poll(() => lines.length).toBe(1);
    expect(text()).not.toContain('canary');
    expect(() => open('redis://user:canary@h:0')).toThrow(TypeError);
    expect(() => open('redis://user:canary@h:0')).not.toThrow('canary');
  });

  it('says once that the connection is lost and once that it is back', async () => {
    const { log, lines } = capturedLog();
    const client = await ready(open(server.url, { log }));
    await server.kill();
    await attempts(client, 3);
    await server.start();
    await ready(client);
    expect(lines.map(({ msg }) => msg)).toEqual(['Redis connection failed', 'Redis connection restored']);
  });

  it('closes a connection on which a reply does not end, before it takes much memory', async () => {
    let sent = 0;
    const endless = createServer((socket) => {
      const piece = Buffer.alloc(65_536, 'x');
      const pour = () => {
        while (socket.writable && sent < 64 * 1024 * 1024) {
          sent += piece.length;
          if (!socket.write(piece)) return void socket.once('drain', pour);
        }
      };
      socket
        .on('error', () => {})
        .once('data', () => {
          socket.write('$1073741824\r\n');
          pour();
        });
    });
    const { port } = await serveInTest(endless);
    // No other limit closes it.
    const patient = { commandTimeoutMs: AN_HOUR, socketTimeoutMs: AN_HOUR };
    const client = open(`redis://127.0.0.1:${port}`, patient).on('error', () => {});
    await until(client, 'close');
    client.disconnect();
    // What the kernel holds for both ends was sent too.
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  it('fails no command because this process was too busy to read its answer', async () => {
    const client = await ready(open());
    const answers = Array.from({ length: 20 }, () => client.ping());
    await new Promise((resolve) => setImmediate(resolve));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
    expect(await Promise.all(answers)).toEqual(Array(20).fill('PONG'));
    expect(client.status).toBe('ready');
  });

  it('keeps trying a server that accepts connections and never speaks', async () => {
    let connections = 0;
    const mute = createServer(() => {
      connections += 1;
    });
    const { port } = await serveInTest(mute);
    open(`redis://127.0.0.1:${port}`).on('error', () => {});
    await expect.poll(() => connections).toBeGreaterThan(2);
  });
});

describe('a Sentinel address', () => {
  it('leads to the master that the sentinels name, past one that does not answer', async () => {
    using sentinel = await startScriptedRedis(([, word]) =>
      word === 'get-master-addr-by-name' ? [server.host, String(server.port)] : undefined,
    );
    const client = await ready(
      open(`redis+sentinel://:canary-password@127.0.0.1:1,127.0.0.1:${sentinel.port}/main/3`),
    );
    expect(await client.client('LIST')).toMatch(/name=ori-test .*db=3/);
    expect(sentinel.asked).toContain('sentinel get-master-addr-by-name main');
    // The password of Redis is not shown to them.
    expect(sentinel.asked.join()).not.toContain('canary-password');
  });

  it('logs in to the sentinels by a login of their own, which needs no more than the README grants', async () => {
    const readme = await readFile(join(import.meta.dirname, '../../../../services/signer/README.md'), 'utf8');
    const [, rights = ''] = /^ACL SETUSER ori-sentinel on >SECRET (.*)$/m.exec(readme) ?? [];
    await using stack = new AsyncDisposableStack();
    const { port } = await startSentinel(stack, server.port, 60_000, [
      'sentinel auth-pass ori canary-password',
      `user ori-sentinel on >of-its-own ${rights}`,
      'user default off',
    ]);
    const address = `redis+sentinel://:canary-password@127.0.0.1:${port}/ori`;
    const client = await ready(open(`${address}?sentinel=ori-sentinel:of-its-own`));
    expect(await client.ping()).toBe('PONG');
    const stranger = open(address);
    const refusal = await until<Error>(stranger, 'error');
    expect(refusal.message).toContain('NOAUTH');
  });
});

it('takes and refunds turns with no more rights than the README grants', async () => {
  const readme = await readFile(join(import.meta.dirname, '../../turns/README.md'), 'utf8');
  const [, rights = ''] = /^ {4}user signer on >… (.*\n.*)$/m.exec(readme) ?? [];
  const admin = await ready(open());
  await admin.call('ACL', 'SETUSER', 'chat', 'on', '>of-its-own', ...rights.split(/\s+/));
  const redis = await ready(open(`redis://chat:of-its-own@127.0.0.1:${server.port}`));
  const limiter = createTurnLimiter({ redis, turnsPerUser: 1, turnsPerOrganization: 1, windowSeconds: 60 });
  const who = { userId: 'ada', organizationId: 'engines' };
  const verdict = await limiter.take(who);
  await limiter.refund(who, verdict);
  expect([verdict.allowed, (await limiter.take(who)).allowed]).toEqual([true, true]);
});

it('prepares a single Redis each time it is ready', async () => {
  const client = open();
  let prepared = 0;
  const prepare = async () => {
    prepared += 1;
  };
  onNodeReady(client, prepare);
  await ready(client);
  expect(prepared).toBe(1);
  onNodeReady(client, prepare);
  expect(prepared).toBe(2);
  await server.kill();
  await server.start();
  await expect.poll(() => prepared).toBe(4);
});

it('connects to every node of a Cluster before a command needs it', async () => {
  const nodes: ScriptedRedis[] = [];
  const half = 8192;
  const answer = ([, word]: readonly string[]) =>
    word === 'SLOTS'
      ? nodes.map(({ port }, index) => [index * half, (index + 1) * half - 1, ['127.0.0.1', port]])
      : 'OK';
  using first = await startScriptedRedis(answer);
  using second = await startScriptedRedis(answer);
  nodes.push(first, second);
  const client = open(`redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`);
  for (const { asked } of nodes) await expect.poll(() => asked).toContain('client setname ori-test');
  await expect.poll(() => client.status).toBe('ready');
  expect([first, second].flatMap(({ asked }) => asked)).not.toContain('cluster info');
});

it('reads the time of the server', async () => {
  const client = { time: async () => ['1700000000', '250000'] } as never;
  expect(await redisTime(client)).toBe(1_700_000_000_250);
});

describe('pingRedis', () => {
  it('tells a primary from a replica, also while it connects anew to one that was demoted', async () => {
    const client = await ready(open());
    await pingRedis(client);
    await client.acl('SETUSER', 'default', '-info');
    await pingRedis(client);
    await client.acl('SETUSER', 'default', '+info');
    await client.call('REPLICAOF', '127.0.0.1', '1');
    await expect(pingRedis(client)).rejects.toMatchObject({ code: 'standby' });
    await expect(client.incr('n')).rejects.toThrow('READONLY');
    await expect(pingRedis(client)).rejects.toMatchObject({ cause: { code: 'standby' } });
    await until(client, 'ready');
    await expect(pingRedis(client)).rejects.toMatchObject({ code: 'standby' });
  });

  it.each([
    ['maxmemory', '1', 'OOM'],
    ['min-replicas-to-write', '1', 'NOREPLICAS'],
  ])('passes on that Redis takes no writes, by %s', async (name, value, refusal) => {
    const client = await ready(open());
    await client.config('SET', name, value);
    const asked = pingRedis(client);
    await expect(asked).rejects.toThrow(refusal);
    await client.config('SET', name, '0');
    await pingRedis(client);
  });

  it('passes on what Redis answers, and why there is no connection', async () => {
    const client = await ready(open());
    await client.acl('SETUSER', 'default', '-ping');
    await expect(pingRedis(client)).rejects.toMatchObject({ name: 'ReplyError' });
    await client.acl('SETUSER', 'default', '+ping');
    await server.kill();
    await until(client, 'close');
    // The refusal of an earlier command is no reason.
    await expect(pingRedis(client)).rejects.toHaveProperty(
      'cause',
      expect.not.objectContaining({ code: 'standby' }),
    );
    await until(client, 'error');
    await expect(pingRedis(client)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  });
});
