import { freePort } from './ports.ts';
import { findProgram, openRoom } from './room.ts';
import { sharedBackend } from './run.ts';
import { type OwnServer, ServerProcess } from './server-process.ts';

export interface RedisOptions {
  /** Further arguments of `redis-server`, such as `['--maxmemory-policy', 'allkeys-lru']`. */
  readonly arguments?: readonly string[];
  /** The password required of every client; included in `url`. */
  readonly password?: string;
}

/** A Redis server for one test. Without `--save` or `--appendonly` among the arguments it starts empty again. */
export type RedisServer = OwnServer;

/** The run's shared Redis. Never flush it: keys contain a random intern id. Only within vitest. */
export function sharedRedisUrl(): string {
  if (!SHARED) throw new Error('the shared Redis exists within a test run only: use startRedis()');
  return SHARED;
}

const SHARED = await sharedBackend('redisUrl');

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
  return server.own(`redis://${credentials}127.0.0.1:${port}`, 'SIGTERM');
}
