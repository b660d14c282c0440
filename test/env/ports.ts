import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * A free loopback port below the kernel's range for outgoing connections, so that
 * a stopped server finds its port still free when it restarts.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000);
    if (await isFree(port)) return port;
  }
}

/** The first of `count` consecutive free ports. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = await freePort();
    const free = await Promise.all(Array.from({ length: count }, (_, at) => isFree(first + at)));
    if (free.every(Boolean)) return first;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const judged = new Promise<boolean>((resolve) => {
    server.once('listening', () => resolve(true)).once('error', () => resolve(false));
  });
  server.listen(port, '127.0.0.1');
  const free = await judged;
  if (free) await new Promise((resolve) => server.close(resolve));
  return free;
}
