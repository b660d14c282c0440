import { createServer } from 'node:http';
import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres-server.ts';
import { buildPrograms } from './programs.ts';
import { startRedis } from './redis.ts';
import type { Backends } from './run.ts';
import { serve } from './serve.ts';

/** Gives all test files one Redis, one PostgreSQL and one build of what ships, each started when the first file asks for it. */
export async function setup(project: Pick<TestProject, 'provide'>): Promise<() => Promise<void>> {
  const stack = new AsyncDisposableStack();
  const start: Record<keyof Backends, () => Promise<string>> = {
    redisUrl: async () => stack.use(await startSharedRedis()).url,
    postgresUrl: async () => stack.use(await startPostgres()).url,
    programs: async () => stack.use(await buildPrograms()).directory,
  };
  const started = new Map<string, Promise<string>>();
  const server = await serve(
    createServer((req, res) => {
      // A kept connection that the server closes as the next file asks would fail that file.
      res.shouldKeepAlive = false;
      const name = (req.url ?? '').slice(1) as keyof Backends;
      if (!started.has(name)) started.set(name, start[name]());
      started.get(name)?.then(
        (text) => res.end(text),
        (error: unknown) => res.writeHead(500).end(String(error)),
      );
    }),
  );
  stack.use(server);
  project.provide('backends', server.url);
  return async () => {
    await Promise.allSettled(started.values());
    await stack.disposeAsync();
  };
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
