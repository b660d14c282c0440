import { setTimeout as pause } from 'node:timers/promises';
import type { IssuerBehaviour } from '../env/issuer.ts';
import type { TcpProxy } from '../env/tcp-proxy.ts';
import type { MatrixWorld } from './matrix-world.ts';

export type Dependency = 'Redis' | 'PostgreSQL' | 'issuer';

/** One dependency broken in one way. */
export interface Cell {
  readonly dependency: Dependency;
  readonly fault: 'down' | 'frozen' | 'wrong answer';
  /** The process was restarted empty. */
  readonly forgets?: boolean;
  /** Breaks the dependency for `forMs` and repairs it. Reports when it is broken and when it is about to be repaired. */
  run(on: MatrixWorld, forMs: number, broken: () => void, mending: () => void): Promise<void>;
}

type Deed = (on: MatrixWorld) => Promise<unknown> | unknown;

const lasting = (cause: Deed, lift: Deed): Pick<Cell, 'run'> => ({
  async run(on, forMs, broken, mending) {
    await cause(on);
    broken();
    await pause(forMs);
    mending();
    await lift(on);
  },
});

/** Applies each cause for an equal share of the time. */
const oneAfterAnother = (causes: readonly Deed[], lift: Deed): Pick<Cell, 'run'> => ({
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

const lying = (of: (on: MatrixWorld) => TcpProxy, lies: readonly Uint8Array[]) =>
  oneAfterAnother(
    lies.map(
      (lie): Deed =>
        (on) =>
          of(on).set({ lie }),
    ),
    (on) => of(on).set('open'),
  );

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

const LIES: readonly IssuerBehaviour[] = ['error', 'html', 'impostor', 'malformed', 'truncated'];

/** Each kind of failure once: what does not come, what does not answer, and what answers otherwise. */
export const CELLS: readonly Cell[] = [
  {
    dependency: 'Redis',
    fault: 'down',
    forgets: true,
    ...lasting(
      ({ redis }) => redis.kill(),
      ({ redis }) => redis.start(),
    ),
  },
  {
    dependency: 'Redis',
    fault: 'frozen',
    ...lasting(
      ({ redis }) => redis.freeze(),
      ({ redis }) => redis.thaw(),
    ),
  },
  { dependency: 'Redis', fault: 'wrong answer', ...lying(({ toRedis }) => toRedis, REDIS_LIES) },
  {
    dependency: 'PostgreSQL',
    fault: 'down',
    ...lasting(
      ({ postgres }) => postgres.stop(),
      ({ postgres }) => postgres.start(),
    ),
  },
  {
    dependency: 'PostgreSQL',
    fault: 'frozen',
    ...lasting(
      ({ postgres }) => postgres.freeze(),
      ({ postgres }) => postgres.thaw(),
    ),
  },
  {
    dependency: 'PostgreSQL',
    fault: 'wrong answer',
    ...lying(({ toPostgres }) => toPostgres, POSTGRES_LIES),
  },
  {
    dependency: 'issuer',
    fault: 'down',
    ...lasting(
      ({ world }) => world.issuer.stop(),
      ({ world }) => world.issuer.start(),
    ),
  },
  { dependency: 'issuer', fault: 'frozen', ...lasting(issuing('frozen'), good) },
  { dependency: 'issuer', fault: 'wrong answer', ...oneAfterAnother(LIES.map(issuing), good) },
];
