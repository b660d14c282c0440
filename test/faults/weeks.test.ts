import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { INTERN_ID, openSignedInWorld } from '../e2e/cli-world.ts';
import { bridgeOf, environmentOf } from '../e2e/mcp-world.ts';
import { guardProcess } from '../env/guard-world.ts';
import { residentBytes } from '../env/peak-memory.ts';
import { startRedis } from '../env/redis.ts';
import { openRoom } from '../env/room.ts';
import { startRecipe } from '../env/verifier/recipe.ts';
import { connect } from '../env/verifier/redis-world.ts';
import { type Mood, startMoodyServer } from './weeks-server.ts';

/** `WEEKS=500 npx vitest run test/faults/weeks.test.ts` is a week in an hour. */
const ROUNDS = Number(process.env['WEEKS'] ?? 4);
const ANSWER_MS = 45_000;
const MIB = 1024 * 1024;
/** What a process may grow by after the first rounds. */
const GROWTH_BYTES_MAX = 64 * MIB;
const { world, home } = await openSignedInWorld();

let bridges = 0;

/** A client of `ori mcp`, as far as it needs answers. */
function connectBridge(daemon: string, ...options: string[]) {
  const { command, args, env } = bridgeOf(environmentOf(home, world, daemon), ...options);
  const child: ChildProcess = spawn(command, args, { env });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stderr?.resume();
  const waiting = new Map<number, (isResult: boolean) => void>();
  let strays = 0;
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    const { id, error } = JSON.parse(line);
    if (!waiting.has(id)) strays += 1;
    waiting.get(id)?.(error === undefined);
    waiting.delete(id);
  });
  let last = 1_000_000 * ++bridges; // each bridge has ids of its own
  const write = (message: object) =>
    child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  /** Whether the answer is a result. Rejects if there is none. */
  const ask = async (method: string, params: object = {}): Promise<boolean> => {
    const id = ++last;
    const answered = new Promise<boolean>((resolve) => waiting.set(id, resolve));
    write({ id, method, params });
    const none = pause(ANSWER_MS, undefined, { ref: false }).then(() => {
      throw new Error(`request ${id} got no answer`);
    });
    return Promise.race([answered, none]);
  };
  const begin = async (): Promise<void> => {
    await expect.poll(() => ask('initialize', { protocolVersion: '2025-06-18' }), PATIENT).toBe(true);
    write({ method: 'notifications/initialized' });
  };
  return { child, ask, begin, strays: () => strays };
}

const PATIENT = { timeout: ANSWER_MS, interval: 50 };
const MOODS: readonly Mood[] = ['json', 'stream', 'half-open'];

test(`a bridge, a guard and a daemon with node-redis live through ${ROUNDS} rounds of restarts, forgotten sessions, half-open streams and stopped clocks`, {
  timeout: 60_000 + ROUNDS * 30_000,
}, async () => {
  await using redis = await startRedis();
  await using room = await openRoom('ori-weeks');
  const server = await startMoodyServer();
  onTestFinished(() => server.stop());
  const environment = {
    GUARD_INTERN_ID: INTERN_ID,
    GUARD_KEYS_URL: `${world.baseUrl}/interns/${INTERN_ID}/daemon/jwks.json`,
    GUARD_DAEMON_URL: server.url,
    GUARD_REPLAY: 'redis',
    GUARD_REDIS_URL: redis.url,
    GUARD_LOG_LEVEL: 'silent',
  };
  const { port, guard } = await guardProcess({ environment } as never, room, { GUARD_LOG_LEVEL: 'info' });
  await guard.start();
  const operator = await connect(redis.url);
  const daemon = await startRecipe('const client = createClient(', { url: redis.url });
  const url = `http://127.0.0.1:${port}`;
  const bridge = connectBridge(url);
  await bridge.begin();

  const faults: Readonly<Record<string, () => Promise<unknown>>> = {
    'a session is forgotten': async () => server.forget(),
    'the connections to Redis break': () =>
      operator.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'),
    'a host dies during a stream': async () => {
      const orphan = connectBridge(url, '--timeout', '1');
      await orphan.begin();
      server.state.mood = 'half-open';
      void orphan.ask('ping').catch(() => undefined);
      orphan.child.stdin?.end();
      const [code] = await once(orphan.child, 'exit');
      expect(code).toBe(0);
    },
    'the guard stands still': async () => {
      process.kill(guard.pid ?? 0, 'SIGSTOP');
      await pause(200);
      process.kill(guard.pid ?? 0, 'SIGCONT');
    },
    'the bridge stands still': async () => {
      bridge.child.kill('SIGSTOP');
      await pause(200);
      bridge.child.kill('SIGCONT');
    },
    'the server breaks off': async () => {
      server.state.mood = 'broken';
      await bridge.ask('ping');
    },
    'the guard is killed and started again': async () => {
      await guard.killFamily();
      await guard.start();
    },
    'Redis is restarted without its data': async () => {
      await redis.restart();
      await expect.poll(() => operator.ping().catch(() => ''), PATIENT).toBe('PONG');
    },
  };
  const kinds = Object.keys(faults);
  let answers = 0;
  let errors = 0;
  let [bridgeBytes, guardBytes] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    const kind = kinds[round % kinds.length] ?? '';
    server.state.mood = MOODS[round % MOODS.length] ?? 'json';
    // Some requests are in progress when it happens.
    const during = Array.from({ length: 4 }, () => bridge.ask('ping'));
    await faults[kind]?.();
    server.state.mood = MOODS[round % MOODS.length] ?? 'json';
    const results = await Promise.all(during);
    answers += results.length;
    errors += results.filter((isResult) => !isResult).length;
    await expect.poll(() => bridge.ask('ping'), { ...PATIENT, message: `after: ${kind}` }).toBe(true);
    await daemon.ready();
    if (round === Math.min(40, Math.floor(ROUNDS / 2)))
      [bridgeBytes, guardBytes] = [residentBytes(bridge.child.pid), residentBytes(guard.pid)];
  }
  const [bridgeNow, guardNow] = [residentBytes(bridge.child.pid), residentBytes(guard.pid)];
  bridge.child.stdin?.end();
  await once(bridge.child, 'exit');
  await expect.poll(server.open, PATIENT).toBe(0);
  const inMiB = (bytes: number) => Math.round(bytes / MIB);
  console.log(
    `${ROUNDS} rounds: ${answers} requests during faults, each answered, ${errors} with an error; ${server.sessions()} sessions;`,
    `bridge ${inMiB(bridgeBytes)} → ${inMiB(bridgeNow)} MiB, guard ${inMiB(guardBytes)} → ${inMiB(guardNow)} MiB`,
  );
  expect(bridge.strays()).toBe(0);
  expect([...server.state.executed.values()].filter((times) => times > 1)).toEqual([]);
  expect(bridgeNow - bridgeBytes).toBeLessThan(GROWTH_BYTES_MAX);
  expect(guardNow - guardBytes).toBeLessThan(GROWTH_BYTES_MAX);
});
