import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Socket } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { StartedTestContainer } from 'testcontainers';

/** The options of a container. Its one port is published on a fixed port, which a restart keeps. */
export interface ContainerOptions {
  readonly image: string;
  readonly containerPort: number;
  readonly hostPort: number;
  readonly ready: RegExp;
  /** How many times the readiness line is logged before the server is ready. */
  readonly readyTimes?: number;
  readonly command?: readonly string[];
  readonly environment?: Record<string, string>;
}

/** A server in a container, with the same methods as a server process. */
export interface ContainerServer {
  readonly host: string;
  readonly id: string;
  /** Stops with a signal; the container stays and can be started again. */
  end(signal: NodeJS.Signals): Promise<void>;
  start(): Promise<void>;
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  remove(): Promise<void>;
}

const START_LIMIT_MS = 120_000;

/** Whether there seems to be a Docker engine; it may still be unable to start anything. */
export function dockerEngineInSight(): boolean {
  if (process.env['DOCKER_HOST']) return true;
  const sockets = [
    '/var/run/docker.sock',
    `${homedir()}/.docker/run/docker.sock`,
    `${process.env['XDG_RUNTIME_DIR'] ?? '/run/user/none'}/docker.sock`,
  ];
  return sockets.some((path) => existsSync(path));
}

/** Starts a container with testcontainers. Rejects if there is no engine or it cannot start this image. */
export async function startContainer(options: ContainerOptions): Promise<ContainerServer> {
  const { GenericContainer, Wait, getContainerRuntimeClient } = await import('testcontainers');
  const client = await getContainerRuntimeClient();
  const build = () =>
    new GenericContainer(options.image)
      .withExposedPorts({ container: options.containerPort, host: options.hostPort })
      .withEnvironment(options.environment ?? {})
      .withCommand([...(options.command ?? [])])
      .withWaitStrategy(Wait.forLogMessage(options.ready, options.readyTimes ?? 1))
      .withStartupTimeout(START_LIMIT_MS)
      .start();
  let container: StartedTestContainer;
  try {
    container = await withinLimit(build());
  } catch (error) {
    // The engine may have this image but not Ryuk's, which testcontainers starts first.
    if (process.env['TESTCONTAINERS_RYUK_DISABLED'] === 'true') throw error;
    process.env['TESTCONTAINERS_RYUK_DISABLED'] = 'true';
    container = await withinLimit(build());
  }
  watchOver(container.getId());
  const docker = client.container.dockerode.getContainer(container.getId());
  return {
    host: container.getHost(),
    id: container.getId(),
    end: async (signal) => {
      await docker.kill({ signal });
      await docker.wait();
    },
    start: () => docker.start(),
    freeze: () => docker.pause(),
    thaw: () => docker.unpause(),
    remove: async () => {
      // Not every engine can remove a paused container.
      await docker.unpause().catch(() => {});
      await container.stop({ remove: true, removeVolumes: true, timeout: 0 });
    },
  };
}

let watcher: ChildProcess | undefined;

/** Ensures that the container is removed however this process exits, even without Ryuk. */
function watchOver(id: string): void {
  if (!watcher) {
    watcher = spawn(process.execPath, [join(import.meta.dirname, 'container-watch.ts')], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    watcher.unref();
    watcher.stdin?.on('error', () => {});
    if (watcher.stdin instanceof Socket) watcher.stdin.unref();
  }
  watcher.stdin?.write(`${id}\n`);
}

/** Pulling an image has no timeout. A container that starts after ours is removed. */
async function withinLimit(starting: Promise<StartedTestContainer>): Promise<StartedTestContainer> {
  const limit = new AbortController();
  const tooLate = pause(START_LIMIT_MS, undefined, { signal: limit.signal }).then(() => {
    starting.then((container) => container.stop()).catch(() => {});
    throw new Error(`not started within ${START_LIMIT_MS / 1000} s`);
  });
  try {
    return await Promise.race([starting, tooLate]);
  } finally {
    limit.abort();
    tooLate.catch(() => {});
  }
}
