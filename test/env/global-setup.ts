import { randomBytes } from 'node:crypto';
import type { TestProject } from 'vitest/node';
import { dropDatabasesOfRun } from './postgres.ts';
import { startPostgresAnywhere } from './postgres-server.ts';
import { buildPrograms } from './programs.ts';
import { startRedisAnywhere } from './redis-server.ts';
import type { Backends } from './run.ts';

/** Chooses and starts the Redis and the PostgreSQL that all test files share, prints which, and builds what ships. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const runId = randomBytes(4).toString('hex');
  const stack = new AsyncDisposableStack();
  try {
    const [redis, postgres, programs] = await allOrNone([
      chooseRedis(stack),
      choosePostgres(stack, runId),
      buildPrograms().then((room) => stack.use(room).directory),
    ]);
    const backends: Backends = { runId, redis, postgres, programs };
    project.provide('backends', backends);
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
  return () => stack.disposeAsync();
}

async function chooseRedis(stack: AsyncDisposableStack): Promise<Backends['redis']> {
  const demanded = process.env['TEST_BACKEND_REDIS'];
  const url = process.env['TEST_REDIS_URL'];
  if (url && (demanded === undefined || demanded === 'url')) {
    say('Redis: the one of TEST_REDIS_URL.');
    return { origin: 'url', url };
  }
  if (demanded === 'url') throw new Error('TEST_BACKEND_REDIS=url, but TEST_REDIS_URL is not set');
  const { server, passedOver } = await startRedisAnywhere();
  stack.use(server);
  const sentence =
    server.origin === 'docker' ? 'a container on the Docker engine' : 'redis-server of the PATH';
  say(`Redis: ${sentence}, port ${server.port}.${remarks(passedOver)}`);
  return { origin: server.origin, url: server.url };
}

const POSTGRES_SENTENCES = {
  url: 'the one of TEST_DATABASE_URL',
  docker: 'a container on the Docker engine',
  path: 'a private cluster of the installed programs',
  npm: 'a private cluster of npm’s programs',
} as const;

async function choosePostgres(stack: AsyncDisposableStack, runId: string): Promise<Backends['postgres']> {
  const demanded = process.env['TEST_BACKEND_POSTGRES'];
  const url = process.env['TEST_DATABASE_URL'];
  if (url && (demanded === undefined || demanded === 'url')) {
    say(`PostgreSQL: ${POSTGRES_SENTENCES.url}.`);
    stack.defer(() => dropDatabasesOfRun(url, runId));
    return { origin: 'url', url };
  }
  if (demanded === 'url') throw new Error('TEST_BACKEND_POSTGRES=url, but TEST_DATABASE_URL is not set');
  const { server, passedOver } = await startPostgresAnywhere();
  stack.use(server);
  say(`PostgreSQL: ${POSTGRES_SENTENCES[server.origin]}, port ${server.port}.${remarks(passedOver)}`);
  return { origin: server.origin, url: server.url };
}

/** Waits for all, even if one fails, so that nothing starts after the cleanup. */
async function allOrNone<Parts extends unknown[]>(
  parts: [...{ [Part in keyof Parts]: Promise<Parts[Part]> }],
): Promise<Parts> {
  await Promise.allSettled(parts);
  return Promise.all(parts) as Promise<Parts>;
}

function remarks(passedOver: readonly string[]): string {
  return passedOver.map((remark) => ` (${remark.split('\n')[0]})`).join('');
}

function say(sentence: string): void {
  console.log(`test backends: ${sentence}`);
}
