import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { startTcpProxy } from '../../env/tcp-proxy.ts';
import type { Presentation } from './history.ts';
import { LIBRARY } from './library.ts';
import { createRandom } from './random.ts';
import { SETTINGS, type Setting, type StoreName } from './repertoire.ts';
import { NO_ERROR, type Stage } from './stage.ts';
import { startVerifier, type VerifierHandle } from './verifier-handle.ts';

const DAEMONS = 2;
const PER_SECOND = 500;
const OUTAGE_MS_MAX = 2000;
const EVENT_EVERY_MS = 120_000;
/** Long enough for a held snapshot to keep more than a million rows. */
const FAILOVER_EVERY = 25;
/** How long after an event a refusal counts as its outage. */
const AFTER_MS = 30_000;
/** When PostgreSQL ends the session of a client that no longer answers, as the README sets it for a daemon's role. */
const KEEPALIVE_MS = 60_000;
/** No proof is timely for longer, so its id can be forgotten. */
const REMEMBERED_MS = 720_000;

/** Each with the fault that is its failover. */
export const SOAKED = {
  redis: [SETTINGS.redis[2], 'primary killed, replica promoted'],
  postgres: [SETTINGS.postgres[1], 'primary killed, standby promoted'],
} as const satisfies Partial<Record<StoreName, readonly [Setting, string]>>;

export interface SoakOptions {
  readonly minutes: number;
  readonly seed: string;
  readonly say: (line: string) => void;
}

/** True if nothing was accepted twice and no daemon went without an acceptance for longer than 2 s after an event. */
export async function soak(
  [setting, failover]: (typeof SOAKED)[keyof typeof SOAKED],
  { minutes, seed, say }: SoakOptions,
): Promise<boolean> {
  const internId = `int_${setting.name}`;
  const random = createRandom(`${seed}/${setting.name}`);
  await using world = await setting.open({ internId, library: LIBRARY });
  if (world.store.kind === 'memory') throw new TypeError('a store in memory has no connections');
  const portOf = (url: string) => Number(new URL(url).port);
  await using address = await startTcpProxy(portOf(world.store.url));
  const folder = await mkdtemp(join(tmpdir(), 'ori-soak-'));
  const store = { ...world.store, url: world.store.url.replace(/:\d+(?=\/|$)/, `:${address.port}`) };
  const daemons: VerifierHandle[] = [];
  const keySeed = Buffer.alloc(32, 7).toString('hex');
  for (let index = 0; index < DAEMONS; index += 1) {
    const tag = `${setting.name}-${index}`;
    const task = {
      tag,
      library: LIBRARY,
      internId,
      keySeed,
      maxAgeSeconds: 600,
      clockToleranceSeconds: 1,
      store,
      seed: `${random.next()}`,
      history: join(folder, tag),
      callers: 0,
      adversaries: 0,
      perSecond: PER_SECOND / DAEMONS,
      clock: NO_ERROR,
    };
    const heard = (proofs: Parameters<Parameters<typeof startVerifier>[1]>[0], from: VerifierHandle) => {
      for (const other of daemons) if (other !== from) other.tell({ order: 'hear', proofs });
    };
    daemons.push(await startVerifier(task, heard));
  }

  const acceptedMs = new Map<string, number>();
  const refused: Record<string, number> = {};
  let spends = 0;
  let accepted = 0;
  let twice = 0;
  let eventEndMs = Number.POSITIVE_INFINITY;
  /** The longest time since the last event's end in which a daemon accepted nothing. */
  let outageMs = 0;
  const latestMs = daemons.map(() => Date.now());
  const see = ({ kind, id, verdict, answeredMs }: Presentation, daemon: number): void => {
    spends += 1;
    if (verdict === 'accepted') {
      accepted += 1;
      if (acceptedMs.has(id)) twice += 1;
      acceptedMs.set(id, answeredMs);
      const sinceMs = Math.max(eventEndMs, latestMs[daemon] ?? 0);
      outageMs = Math.max(outageMs, answeredMs - sinceMs);
      latestMs[daemon] = answeredMs;
    } else if (kind === 'fresh' && verdict !== 'nonce_replayed') {
      refused[verdict] = (refused[verdict] ?? 0) + 1;
    }
  };
  const look = (): void => {
    for (const [index, { news }] of daemons.entries()) {
      for (const presentation of news()) see(presentation, index);
    }
    for (const [id, ms] of acceptedMs) {
      if (ms > Date.now() - REMEMBERED_MS) break;
      acceptedMs.delete(id);
    }
  };
  const lookFor = async (ms: number): Promise<void> => {
    for (const untilMs = Date.now() + ms; Date.now() < untilMs; ) {
      await pause(200);
      look();
    }
  };
  const stage = {
    random,
    verifiers: daemons,
    pause: lookFor,
    worst: () => daemons.forEach((daemon) => void daemon.tell({ order: 'worst moment' })),
    moveAll: async (url: string) => address.move(portOf(url)),
  } as unknown as Stage;
  let snapshot = await holdSnapshot(world.store);
  const events: Record<string, () => Promise<void>> = {
    'connections fall silent': async () => void setTimeout(address.hush(), KEEPALIVE_MS).unref(),
    'a daemon computes': async () => {
      const ms = random.between(220, 900);
      daemons[random.below(DAEMONS)]?.tell({ order: 'compute', ms });
      await lookFor(ms);
    },
    [failover]: async () => {
      await world.faults[failover]?.(stage);
      await snapshot[Symbol.asyncDispose]();
      snapshot = await holdSnapshot(world.store);
    },
  };

  let isGood = true;
  const untilMs = Date.now() + minutes * 60_000;
  await lookFor(10_000);
  for (let count = 1; Date.now() < untilMs; count += 1) {
    const names = Object.keys(events);
    const name = count % FAILOVER_EVERY === 0 ? failover : (names[count % 2] ?? failover);
    const before = { ...refused };
    await events[name]?.();
    look();
    eventEndMs = Date.now();
    outageMs = 0;
    await lookFor(AFTER_MS);
    outageMs = Math.max(outageMs, ...latestMs.map((ms) => Date.now() - Math.max(ms, eventEndMs)));
    const isWell = outageMs <= OUTAGE_MS_MAX && twice === 0;
    isGood &&= isWell;
    const told = Object.entries(refused).map(([code, n]) => [code, n - (before[code] ?? 0)] as const);
    const codes = told.filter(([, n]) => n > 0).map(([code, n]) => `${code} ${n}`);
    say(
      `${new Date().toISOString()} ${setting.name}: ${name}: nothing accepted for ${outageMs} ms after it; ${codes.join(', ') || 'no refusal'}; ${accepted} accepted, ${twice} twice${isWell ? '' : ' FAILED'}`,
    );
    eventEndMs = Number.POSITIVE_INFINITY;
    await lookFor(Math.max(0, EVENT_EVERY_MS - AFTER_MS));
  }
  await Promise.all(daemons.map((daemon) => daemon.kill()));
  look();
  for (const { close } of daemons) close();
  await snapshot[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
  const codes = Object.entries(refused).map(([code, n]) => `${code} ${n}`);
  say(
    `${setting.name}: ${spends} spends, ${accepted} accepted, ${twice} twice; refused: ${codes.join(', ') || 'none'}`,
  );
  return isGood;
}

/** A transaction that keeps its snapshot open until disposal, so that no row can be removed; nothing for Redis. */
async function holdSnapshot({ kind, url }: { kind: string; url?: string }): Promise<AsyncDisposable> {
  if (kind !== 'postgres') return { [Symbol.asyncDispose]: async () => {} };
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM ori_replay.spent');
  return { [Symbol.asyncDispose]: () => client.end().catch(() => {}) };
}
