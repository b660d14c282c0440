import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres.ts';
import { buildPrograms } from './programs.ts';
import { startRedis } from './redis.ts';

/** Starts the Redis and the PostgreSQL that all test files share, and builds what ships. */
export async function setup(project: Pick<TestProject, 'provide'>): Promise<() => Promise<void>> {
  const stack = new AsyncDisposableStack();
  const parts = [
    startSharedRedis().then((redis) => stack.use(redis).url),
    startPostgres().then((postgres) => stack.use(postgres).url),
    buildPrograms().then((room) => stack.use(room).directory),
  ] as const;
  // Waits for all, even if one fails, so that nothing starts after the cleanup.
  await Promise.allSettled(parts);
  try {
    const [redisUrl, postgresUrl, programs] = await Promise.all(parts);
    project.provide('backends', { redisUrl, postgresUrl, programs });
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
  return () => stack.disposeAsync();
}

/** A Redis in a container if there is an engine that can start one, else the `redis-server` of the PATH. */
async function startSharedRedis(): Promise<{ readonly url: string } & AsyncDisposable> {
  try {
    const { GenericContainer } = await import('testcontainers');
    const container = await new GenericContainer('redis:7-alpine').withExposedPorts(6379).start();
    return {
      url: `redis://${container.getHost()}:${container.getMappedPort(6379)}`,
      [Symbol.asyncDispose]: async () => void (await container.stop()),
    };
  } catch (error) {
    const [reason] = String(error).split('\n');
    console.log(`The tests share the redis-server of the PATH; not one in a container: ${reason}`);
    return startRedis();
  }
}
