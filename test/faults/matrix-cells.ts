import { setTimeout as pause } from 'node:timers/promises';
import type { IssuerBehaviour } from '../env/issuer.ts';
import type { Passage, TcpProxy } from '../env/tcp-proxy.ts';
import type { MatrixWorld } from './matrix-world.ts';

export type Dependency = 'Redis' | 'PostgreSQL' | 'issuer' | 'audit sink';

/** One dependency broken in one way. */
export interface Cell {
  readonly dependency: Dependency;
  readonly fault: 'down' | 'frozen' | 'slow' | 'half-open' | 'wrong answer' | 'flapping';
  /** False if the dependency works some of the time, so that both outcomes are allowed. */
  readonly total: boolean;
  /** The process was restarted empty. */
  readonly forgets?: boolean;
  /** Breaks the dependency for `forMs` and repairs it. Reports when it is broken and when it is about to be repaired. */
  run(on: MatrixWorld, forMs: number, broken: () => void, mending: () => void): Promise<void>;
}

type Deed = (on: MatrixWorld) => Promise<unknown> | unknown;

const SLOW_MS = 3000;

const lasting = (cause: Deed, lift: Deed): Pick<Cell, 'run' | 'total'> => ({
  total: true,
  async run(on, forMs, broken, mending) {
    await cause(on);
    broken();
    await pause(forMs);
    mending();
    await lift(on);
  },
});

/** Applies each cause for an equal share of the time. */
const oneAfterAnother = (causes: readonly Deed[], lift: Deed): Pick<Cell, 'run' | 'total'> => ({
  total: true,
  async run(on, forMs, broken, mending) {
    for (const [index, cause] of causes.entries()) {
      await cause(on);
      if (index === 0) broken();
      await pause(forMs / causes.length);
    }
    mending();
    await lift(on);
  },
});

/** Alternates between broken and repaired, 100 to 300 ms each. */
const flapping = (cause: Deed, lift: Deed): Pick<Cell, 'run' | 'total'> => ({
  total: false,
  async run(on, forMs, broken, mending) {
    broken();
    const endsAt = performance.now() + forMs;
    for (let turn = 0; performance.now() < endsAt; turn++) {
      await cause(on);
      await pause(100 + ((turn * 70) % 200));
      await lift(on);
      await pause(100 + ((turn * 130) % 200));
    }
    mending();
  },
});

const proxied = (of: (on: MatrixWorld) => TcpProxy) => {
  const set =
    (passage: Passage): Deed =>
    (on) =>
      of(on).set(passage);
  const end: Deed = (on) => {
    of(on).cut();
    of(on).set('open');
  };
  return {
    slow: lasting(set({ slowMs: SLOW_MS }), set('open')),
    /** Accepts connections and discards everything sent on them. */
    halfOpen: lasting(set('deaf'), end),
    flapping: flapping(set('shut'), set('open')),
    lies: (lies: readonly Uint8Array[]) =>
      oneAfterAnother(
        lies.map((lie) => set({ lie })),
        set('open'),
      ),
  };
};

const REDIS_LIES = ['\x00\x01garbage\r\n', '-ERR no such thing\r\n', '+OK\r\n', ':1\r\n', '*-1\r\n'].map(
  (lie) => Buffer.from(lie),
);

/** A PostgreSQL protocol message: type, length, body. */
function message(type: string, body: string | Uint8Array): Buffer {
  const bytes = Buffer.from(body as string);
  const head = Buffer.alloc(5, type);
  head.writeUInt32BE(bytes.length + 4, 1);
  return Buffer.concat([head, bytes]);
}

const POSTGRES_LIES = [
  message('E', 'SFATAL\0VFATAL\0CXX000\0Mno such thing\0\0'),
  Buffer.from('\x00\x01garbage that is no message at all'),
  message('R', Uint8Array.of(0, 0, 0, 3)),
  message('D', Uint8Array.of(0, 1, 0, 0, 0, 1, 0x31)),
  Buffer.concat([message('C', 'SELECT 0\0'), message('Z', 'I')]),
];

const issuing =
  (behaviour: IssuerBehaviour): Deed =>
  ({ world }) =>
    world.issuer.behave(behaviour);
const good = issuing('good');

const redis = proxied(({ toRedis }) => toRedis);
const postgres = proxied(({ toPostgres }) => toPostgres);
const LIES: readonly IssuerBehaviour[] = ['error', 'html', 'impostor', 'malformed', 'truncated'];

/** Keeps a reader slow: it reads briefly, then pauses for longer. */
const slowly: Pick<Cell, 'run' | 'total'> = {
  total: false,
  async run({ sink }, forMs, broken, mending) {
    await sink.freeze();
    await sink.fill();
    broken();
    const endsAt = performance.now() + forMs;
    while (performance.now() < endsAt) {
      await pause(200);
      sink.thaw();
      await pause(10);
      await sink.freeze();
    }
    mending();
    sink.thaw();
  },
};

/** A dependency that is stopped and started, for a while or again and again. */
const stopped = (stop: Deed, start: Deed) => ({
  down: lasting(stop, start),
  flapping: flapping(stop, start),
});
const down = {
  redis: stopped(
    ({ redis }) => redis.kill(),
    ({ redis }) => redis.start(),
  ),
  postgres: stopped(
    ({ postgres }) => postgres.stop(),
    ({ postgres }) => postgres.start(),
  ),
  issuer: stopped(
    ({ world }) => world.issuer.stop(),
    ({ world }) => world.issuer.start(),
  ),
  sink: stopped(
    ({ sink }) => sink.stop(),
    ({ sink }) => sink.start(),
  ),
};
const frozen = {
  redis: lasting(
    ({ redis }) => redis.freeze(),
    ({ redis }) => redis.thaw(),
  ),
  postgres: lasting(
    ({ postgres }) => postgres.freeze(),
    ({ postgres }) => postgres.thaw(),
  ),
  sink: lasting(
    ({ sink }) => sink.freeze().then(() => sink.fill()),
    ({ sink }) => sink.thaw(),
  ),
};

export const CELLS: readonly Cell[] = [
  { dependency: 'Redis', fault: 'down', forgets: true, ...down.redis.down },
  { dependency: 'Redis', fault: 'frozen', ...frozen.redis },
  { dependency: 'Redis', fault: 'slow', ...redis.slow },
  { dependency: 'Redis', fault: 'half-open', ...redis.halfOpen },
  { dependency: 'Redis', fault: 'wrong answer', ...redis.lies(REDIS_LIES) },
  { dependency: 'Redis', fault: 'flapping', ...redis.flapping },
  { dependency: 'PostgreSQL', fault: 'down', ...down.postgres.down },
  { dependency: 'PostgreSQL', fault: 'frozen', ...frozen.postgres },
  { dependency: 'PostgreSQL', fault: 'slow', ...postgres.slow },
  { dependency: 'PostgreSQL', fault: 'half-open', ...postgres.halfOpen },
  { dependency: 'PostgreSQL', fault: 'wrong answer', ...postgres.lies(POSTGRES_LIES) },
  { dependency: 'PostgreSQL', fault: 'flapping', ...postgres.flapping },
  { dependency: 'issuer', fault: 'down', ...down.issuer.down },
  { dependency: 'issuer', fault: 'frozen', ...lasting(issuing('frozen'), good) },
  { dependency: 'issuer', fault: 'slow', ...lasting(issuing({ slowMs: SLOW_MS }), good) },
  { dependency: 'issuer', fault: 'half-open', ...lasting(issuing('stalling'), good) },
  { dependency: 'issuer', fault: 'wrong answer', ...oneAfterAnother(LIES.map(issuing), good) },
  { dependency: 'issuer', fault: 'flapping', ...down.issuer.flapping },
  { dependency: 'audit sink', fault: 'down', ...down.sink.down },
  { dependency: 'audit sink', fault: 'frozen', ...frozen.sink },
  { dependency: 'audit sink', fault: 'slow', ...slowly },
  { dependency: 'audit sink', fault: 'flapping', ...down.sink.flapping },
];
