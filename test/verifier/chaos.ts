import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createLocalKeySet } from '../../libs/verifier/src/key-set.ts';
import type { RedisClient } from '../../libs/verifier/src/redis-client.ts';
import { redisReplayStore } from '../../libs/verifier/src/redis-replay-store.ts';
import type { SignedRequest } from '../../libs/verifier/src/requirements.ts';
import { createTestSigner } from '../../libs/verifier/src/testing.ts';
import { createVerifier, type Verifier } from '../../libs/verifier/src/verifier.ts';
import { type RedisServer, startRedis } from '../env/redis.ts';
import { STRICT } from './strict-client.ts';

// `node test/verifier/chaos.ts [seconds] [replicas]`: two verifiers, a primary and its replica, promotions, split brain and losses at
// random, and adversaries that present every accepted proof again. Exits with 1 when a proof was accepted twice. With 0 replicas
// configured, which the README says does not cover a failover, it should find some: that shows that it can.
const SECONDS = Number(process.argv[2] ?? 60);
const REPLICAS = Number(process.argv[3] ?? 1);
const INTERN = 'int_chaos';
const RECENT = 4000;

interface Presented {
  readonly request: SignedRequest;
  times: number;
}

const endsAt = Date.now() + SECONDS * 1000;
const isOver = (): boolean => Date.now() >= endsAt;
const opened: Redis[] = [];
const signer = createTestSigner({ internId: INTERN });
const accepted: Presented[] = [];
const verdicts: Record<string, number> = {};
const happened: Record<string, number> = {};
let doubles = 0;

const options = ['--repl-diskless-sync-delay', '0', '--enable-debug-command', 'yes'];
await using first = await startRedis({ arguments: options });
await using second = await startRedis({ arguments: options });
const servers: readonly [RedisServer, RedisServer] = [first, second];

function open(index: 0 | 1): Redis {
  const redis = new Redis(servers[index].url, { ...STRICT, retryStrategy: () => 50 });
  redis.on('error', () => undefined);
  opened.push(redis);
  return redis;
}

/** A verifier, and which of the two servers it takes for the primary. */
function wanderer(): { verifier: Verifier; goTo(index: 0 | 1): void } {
  const clients = [open(0), open(1)] as const;
  let at: Redis = clients[0];
  const client: RedisClient = {
    options: STRICT,
    call: (command, ...args) => at.call(command, ...args),
    pipeline: (commands) => at.pipeline(commands),
    on: () => undefined,
    off: () => undefined,
  };
  const replay = redisReplayStore(client, { mode: 'spend', replicas: REPLICAS, touchSeconds: 0.5 });
  const keys = createLocalKeySet(signer.jwks);
  const verifier = createVerifier({ internId: INTERN, keys, clockToleranceSeconds: 1, replay });
  return {
    verifier,
    goTo(index) {
      at = clients[index];
    },
  };
}

async function present(verifier: Verifier, proof: Presented): Promise<void> {
  try {
    await verifier.verify(proof.request);
    proof.times += 1;
    if (proof.times === 1) accepted.push(proof);
    else doubles += 1;
    count(verdicts, 'accepted');
  } catch (error) {
    count(verdicts, String((error as { code?: string }).code ?? error));
  }
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

/** Some of the proofs are stamped ahead, as far as the tolerance allows. */
async function caller(verifier: Verifier): Promise<void> {
  for (; !isOver(); await pause(1)) {
    const timestamp = Math.floor(Date.now() / 1000) + (Math.random() < 0.3 ? 1 : 0);
    await present(verifier, { request: signer.request({ path: '/', body: '{}', timestamp }), times: 0 });
  }
}

async function adversary(verifier: Verifier): Promise<void> {
  for (; !isOver(); await pause(0)) {
    const back = Math.random() < 0.5 ? 1 : Math.ceil(Math.random() * Math.min(RECENT, accepted.length));
    const proof = accepted[accepted.length - back];
    if (proof !== undefined) await present(verifier, proof);
  }
}

const [one, other] = [wanderer(), wanderer()];
const admins = [open(0), open(1)] as const;
let primary: 0 | 1 = 0;
await Promise.all(
  admins.map((admin) => admin.status === 'ready' || new Promise((done) => admin.once('ready', done))),
);
await admins[1].replicaof('127.0.0.1', servers[0].port);

const follow = (replica: 0 | 1, of: 0 | 1): Promise<unknown> =>
  admins[replica].replicaof('127.0.0.1', servers[of].port);

const accidents: Record<string, (from: 0 | 1, to: 0 | 1) => Promise<unknown>> = {
  async failover(from, to) {
    await admins[to].replicaof('NO', 'ONE');
    one.goTo(to);
    await pause(Math.random() * 500);
    other.goTo(to);
    await follow(from, to);
    primary = to;
  },
  async 'failover to a replica that lags'(from, to) {
    await servers[to].freeze();
    await pause(700);
    await servers[to].thaw();
    await accidents['failover']?.(from, to);
  },
  async 'there and back'(from, to) {
    await admins[to].replicaof('NO', 'ONE');
    for (const { goTo } of [one, other]) goTo(to);
    await pause(1500);
    for (const { goTo } of [one, other]) goTo(from);
    await pause(1500);
    await follow(to, from);
  },
  async 'split brain'(from, to) {
    await admins[to].replicaof('NO', 'ONE');
    one.goTo(to);
    await pause(2500);
    one.goTo(from);
    await follow(to, from);
  },
  flush: (from) => admins[from].flushall(),
  swap: (from) => admins[from].call('SWAPDB', '0', '1'),
  freeze: async (from) => {
    await servers[from].freeze();
    await pause(400);
    await servers[from].thaw();
  },
};

async function chaos(): Promise<void> {
  const names = Object.keys(accidents);
  for (;;) {
    await pause(4500 + Math.random() * 3000);
    if (Date.now() > endsAt - 3000) return;
    const name = names[Math.floor(Math.random() * names.length)] ?? 'flush';
    count(happened, name);
    await accidents[name]?.(primary, primary === 0 ? 1 : 0).catch(() => undefined);
  }
}

const parties = [one, other].flatMap(({ verifier }) => [caller(verifier), adversary(verifier)]);
await Promise.all([...parties, chaos()]);
console.log({ replicas: REPLICAS, accepted: accepted.length, doubles, verdicts, happened });
process.exitCode = doubles === 0 ? 0 : 1;
for (const redis of opened) redis.disconnect();
