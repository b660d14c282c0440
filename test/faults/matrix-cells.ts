import type { IssuerBehaviour } from '../env/issuer.ts';
import type { TcpProxy } from '../env/tcp-proxy.ts';
import type { MatrixWorld } from './matrix-world.ts';

export type Dependency = 'Redis' | 'PostgreSQL' | 'issuer';

type Deed = (on: MatrixWorld) => Promise<unknown> | unknown;

/** One dependency broken in one way. */
export interface Cell {
  readonly dependency: Dependency;
  readonly fault: 'down' | 'frozen' | 'wrong answer';
  /** The process was restarted empty. */
  readonly forgets?: boolean;
  /** Each for an equal share of the time. */
  readonly causes: readonly Deed[];
  readonly lift: Deed;
}

const lying = (
  of: (on: MatrixWorld) => TcpProxy,
  lies: readonly Uint8Array[],
): Pick<Cell, 'causes' | 'lift'> => ({
  causes: lies.map((lie) => (on) => of(on).set({ lie })),
  lift: (on) => of(on).set('open'),
});

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
    causes: [({ redis }) => redis.kill()],
    lift: ({ redis }) => redis.start(),
  },
  {
    dependency: 'Redis',
    fault: 'frozen',
    causes: [({ redis }) => redis.freeze()],
    lift: ({ redis }) => redis.thaw(),
  },
  { dependency: 'Redis', fault: 'wrong answer', ...lying(({ toRedis }) => toRedis, REDIS_LIES) },
  {
    dependency: 'PostgreSQL',
    fault: 'down',
    causes: [({ postgres }) => postgres.stop()],
    lift: ({ postgres }) => postgres.start(),
  },
  {
    dependency: 'PostgreSQL',
    fault: 'frozen',
    causes: [({ postgres }) => postgres.freeze()],
    lift: ({ postgres }) => postgres.thaw(),
  },
  {
    dependency: 'PostgreSQL',
    fault: 'wrong answer',
    ...lying(({ toPostgres }) => toPostgres, POSTGRES_LIES),
  },
  {
    dependency: 'issuer',
    fault: 'down',
    causes: [({ world }) => world.issuer.stop()],
    lift: ({ world }) => world.issuer.start(),
  },
  { dependency: 'issuer', fault: 'frozen', causes: [issuing('frozen')], lift: good },
  { dependency: 'issuer', fault: 'wrong answer', causes: LIES.map(issuing), lift: good },
];
