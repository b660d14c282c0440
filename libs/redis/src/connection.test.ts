import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Secret } from '@ori/runtime/secret';
import { capturedLog } from '@ori/runtime/testing/captured-log';
import { type RedisServer, startRedis } from '@ori/test-env/redis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectRedis, onNodeReady, type RedisClient } from './connection.ts';

const RECOVERY_MS = 1000;

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
const until = (client: RedisClient, event: string) => new Promise((resolve) => client.once(event, resolve));

/** How long until a command succeeds again. */
async function recoveryMs(client: RedisClient): Promise<number> {
  const begun = performance.now();
  for (;;) {
    const answer = await client.ping().catch(() => undefined);
    if (answer === 'PONG') return performance.now() - begun;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('connectRedis', () => {
  it('names its connection for the operator', async () => {
    const client = await ready(open());
    expect(await client.client('LIST')).toContain('name=ori-test');
  });

  it('fails every command at once while there is no connection', async () => {
    const client = await ready(open());
    await server.kill();
    await until(client, 'close');
    const begun = performance.now();
    const outcomes = await Promise.allSettled(Array.from({ length: 100 }, () => client.incr('n')));
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
    expect(performance.now() - begun).toBeLessThan(100);
  });

  it('fails a command at once before the first connection is there', async () => {
    await expect(open().ping()).rejects.toThrow();
  });

  it('gives a frozen Redis up after the command time-out, and uses it again within a second', async () => {
    const client = await ready(open());
    await server.freeze();
    const begun = performance.now();
    await expect(client.incr('n')).rejects.toThrow('Command timed out');
    const waited = performance.now() - begun;
    expect(waited).toBeGreaterThan(150);
    expect(waited).toBeLessThan(400);
    await until(client, 'close');
    await expect(client.incr('n')).rejects.toThrow();
    await server.thaw();
    expect(await recoveryMs(client)).toBeLessThan(RECOVERY_MS);
  });

  it('uses a Redis again within a second that was frozen for long', async () => {
    const client = await ready(open());
    await server.freeze();
    await new Promise((resolve) => setTimeout(resolve, 3000));
    await server.thaw();
    expect(await recoveryMs(client)).toBeLessThan(RECOVERY_MS);
  });

  it('uses a restarted Redis again within a second', async () => {
    const client = await ready(open());
    await server.kill();
    await new Promise((resolve) => setTimeout(resolve, 2000));
    await server.start();
    expect(await recoveryMs(client)).toBeLessThan(RECOVERY_MS);
  });

  it('never sends a command again that timed out or lost its connection', async () => {
    const client = await ready(open());
    await server.freeze();
    const lost = Array.from({ length: 20 }, () => client.incr('n').catch(() => 'lost'));
    expect(await Promise.all(lost)).toEqual(Array(20).fill('lost'));
    await until(client, 'close');
    await server.thaw();
    await recoveryMs(client);
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
    await new Promise((resolve) => setTimeout(resolve, 700));
    await server.start();
    await recoveryMs(client);
    expect(lines.map(({ msg }) => msg)).toEqual(['Redis connection failed', 'Redis connection is back']);
  });

  it('keeps trying a server that accepts connections and never speaks', async () => {
    let connections = 0;
    const mute = createServer(() => {
      connections += 1;
    }).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const { port } = mute.address() as AddressInfo;
    open(`redis://127.0.0.1:${port}`).on('error', () => {});
    await expect.poll(() => connections, { timeout: 5000 }).toBeGreaterThan(2);
    mute.close();
  });
});

describe('a Sentinel address', () => {
  it('leads to the master that the sentinels name, past one that does not answer', async () => {
    const asked: string[] = [];
    const sentinel = createServer((socket) => {
      socket.setEncoding('latin1').on('data', (chunk: string) => {
        for (const command of chunk.split(/(?=\*\d+\r\n)/)) {
          const words = command.split('\r\n').filter((_line, index) => index > 0 && index % 2 === 0);
          asked.push(words.join(' ').toLowerCase());
          const reply =
            words[1] === 'get-master-addr-by-name' ? [server.host, String(server.port)] : undefined;
          const bulk = reply?.map((word) => `$${word.length}\r\n${word}\r\n`).join('');
          if (words[0]?.toLowerCase() === 'hello') socket.write('-ERR unknown command HELLO\r\n');
          else socket.write(bulk === undefined ? '*0\r\n' : `*2\r\n${bulk}`);
        }
      });
    }).listen(0, '127.0.0.1');
    await once(sentinel, 'listening');
    const { port } = sentinel.address() as AddressInfo;
    const client = await ready(
      open(`redis+sentinel://:canary-password@127.0.0.1:1,127.0.0.1:${port}/main/3`),
    );
    expect(await client.client('LIST')).toMatch(/name=ori-test .*db=3/);
    expect(asked).toContain('sentinel get-master-addr-by-name main');
    expect(asked.join()).toContain('auth canary-password');
    sentinel.close();
  });
});

it('prepares a single Redis each time it is ready', async () => {
  const client = open();
  let prepared = 0;
  onNodeReady(client, async () => {
    prepared += 1;
  });
  await ready(client);
  expect(prepared).toBe(1);
  await server.kill();
  await server.start();
  await recoveryMs(client);
  expect(prepared).toBe(2);
});
