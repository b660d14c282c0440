import { freePort } from './ports.ts';
import { findProgram, openRoom } from './room.ts';
import { providedBackends } from './run.ts';
import { ServerProcess } from './server-process.ts';

export interface RedisOptions {
  /** Further arguments of `redis-server`, such as `['--maxmemory-policy', 'allkeys-lru']`. */
  readonly arguments?: readonly string[];
  /** The password required of every client; included in `url`. */
  readonly password?: string;
}

/** A Redis server for one test, on a port that it keeps across restarts. */
export interface RedisServer extends AsyncDisposable {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Undefined while stopped. */
  readonly pid: number | undefined;
  /** An orderly shutdown, as by an operator. */
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** After `stop` or `kill`. Without `--save` or `--appendonly` among the arguments it starts empty. */
  start(): Promise<void>;
  restart(): Promise<void>;
  /** SIGSTOP: connections stay open and the kernel accepts new ones, but nothing answers. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
}

/** The run's shared Redis. Never flush it: keys contain a random intern id. Only within vitest. */
export function sharedRedisUrl(): string {
  const backends = providedBackends();
  if (!backends) throw new Error('the shared Redis exists within a test run only: use startRedis()');
  return backends.redisUrl;
}

/** The `redis-server` of the PATH. */
export function redisProgram(): string {
  const program = findProgram('redis-server');
  if (program) return program;
  throw new Error(
    'No redis-server on the PATH: run `npm run setup`, which installs it by apt on Debian as root and elsewhere says what to install.',
  );
}

/** Starts a private Redis from the PATH: faults, replicas and files need a process on this machine. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const program = redisProgram();
  const port = await freePort();
  const room = await openRoom('ori-redis');
  const password = options.password === undefined ? [] : ['--requirepass', options.password];
  const server = new ServerProcess({
    room,
    program,
    arguments: [
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', room.directory],
      ...['--save', '', '--appendonly', 'no', ...password, ...(options.arguments ?? [])],
    ],
    ready: /Ready to accept connections/,
    farewell: 'KILL',
  });
  await server.start().catch(async (error: unknown) => {
    await room[Symbol.asyncDispose]();
    throw error;
  });
  const credentials = options.password === undefined ? '' : `:${encodeURIComponent(options.password)}@`;
  return {
    url: `redis://${credentials}127.0.0.1:${port}`,
    host: '127.0.0.1',
    port,
    get pid() {
      return server.pid;
    },
    stop: () => server.end('SIGTERM'),
    kill: () => server.end('SIGKILL'),
    start: () => server.start(),
    restart: async () => {
      await server.end('SIGTERM');
      await server.start();
    },
    freeze: async () => server.freeze(),
    thaw: async () => server.thaw(),
    [Symbol.asyncDispose]: () => room[Symbol.asyncDispose](),
  };
}
