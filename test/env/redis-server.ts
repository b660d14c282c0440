import { Redis } from 'ioredis';
import { dockerEngineInSight, startContainer } from './containers.ts';
import { freePort } from './ports.ts';
import { findProgram, openRoom } from './room.ts';
import { ServerProcess } from './server-process.ts';

export const REDIS_IMAGE = 'redis:7-alpine';

/** The origin of a Redis. */
export type RedisOrigin = 'url' | 'docker' | 'path';

export interface RedisOptions {
  /** Further arguments of `redis-server`, such as `['--maxmemory-policy', 'allkeys-lru']`. */
  readonly arguments?: readonly string[];
  /** The password required of every client; included in `url`. */
  readonly password?: string;
  readonly port?: number;
}

/** A Redis server for one test, on a port that it keeps across restarts. */
export interface RedisServer extends AsyncDisposable {
  readonly origin: RedisOrigin;
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Undefined in a container and while stopped. */
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

/** Tries a Docker engine, then the PATH, and reports why the engine was not used. Undefined origin: none found. */
export async function startRedisAnywhere(
  options: RedisOptions = {},
): Promise<{ server: RedisServer; passedOver: string[] }> {
  const passedOver: string[] = [];
  const demanded = process.env['TEST_BACKEND_REDIS'];
  if (demanded !== 'path' && dockerEngineInSight()) {
    try {
      return { server: await startRedisContainer(options), passedOver };
    } catch (error) {
      if (demanded === 'docker') throw error;
      passedOver.push(`the Docker engine could not start ${REDIS_IMAGE}: ${reason(error)}`);
    }
  }
  if (demanded === 'docker') throw new Error('TEST_BACKEND_REDIS=docker, but there is no Docker engine');
  if (!findProgram('redis-server')) throw new Error(NO_REDIS);
  return { server: await startRedisProcess(options), passedOver };
}

const NO_REDIS =
  'No Redis: set TEST_REDIS_URL, or run `npm run setup`, which installs redis-server by apt on Debian as root and elsewhere says what to install.';

export async function startRedisProcess(options: RedisOptions): Promise<RedisServer> {
  const program = findProgram('redis-server');
  if (!program) throw new Error(NO_REDIS);
  const port = options.port ?? (await freePort());
  const room = await openRoom('ori-redis');
  const server = new ServerProcess({
    room,
    program,
    arguments: [...serverArguments(port, options), '--bind', '127.0.0.1', '--dir', room.directory],
    ready: /Ready to accept connections/,
    farewell: 'KILL',
  });
  await server.start().catch(async (error: unknown) => {
    await room[Symbol.asyncDispose]();
    throw error;
  });
  return {
    ...addressed('path', '127.0.0.1', port, options.password),
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

export async function startRedisContainer(options: RedisOptions): Promise<RedisServer> {
  const hostPort = options.port ?? (await freePort());
  const container = await startContainer({
    image: REDIS_IMAGE,
    containerPort: 6379,
    hostPort,
    ready: /Ready to accept connections/,
    // The official image disables protected mode; the image built by container-engine.ts does not.
    command: ['redis-server', ...serverArguments(6379, options), '--protected-mode', 'no'],
  });
  const address = addressed('docker', container.host, hostPort, options.password);
  const start = async () => {
    await container.start();
    await answers(address.url);
  };
  return {
    ...address,
    pid: undefined,
    stop: () => container.end('SIGTERM'),
    kill: () => container.end('SIGKILL'),
    start,
    restart: async () => {
      await container.end('SIGTERM');
      await start();
    },
    freeze: () => container.freeze(),
    thaw: () => container.thaw(),
    [Symbol.asyncDispose]: () => container.remove(),
  };
}

function serverArguments(port: number, options: RedisOptions): string[] {
  const password = options.password === undefined ? [] : ['--requirepass', options.password];
  const volatile = ['--save', '', '--appendonly', 'no'];
  return ['--port', String(port), ...volatile, ...password, ...(options.arguments ?? [])];
}

function addressed(origin: RedisOrigin, host: string, port: number, password: string | undefined) {
  const credentials = password === undefined ? '' : `:${encodeURIComponent(password)}@`;
  return { origin, host, port, url: `redis://${credentials}${host}:${port}` };
}

/** Resolves when the server answers a PING; after a container's restart there is no log line to wait for. */
async function answers(url: string): Promise<void> {
  const redis = new Redis(url, { retryStrategy: () => 20 });
  redis.on('error', () => {});
  try {
    await redis.ping();
  } finally {
    redis.disconnect();
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
