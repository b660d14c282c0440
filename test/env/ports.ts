import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

const CLAIMS = join(tmpdir(), `ori-test-ports-${userInfo().uid}`);
const CLAIM_MS = 10 * 60_000;

/**
 * A free loopback port below the kernel's range for outgoing connections, so that
 * a stopped server finds its port still free when it restarts. No other process of the tests is given it.
 */
export async function freePort(): Promise<number> {
  await mkdir(CLAIMS, { recursive: true });
  for (;;) {
    const port = randomInt(15_000, 32_000);
    if ((await isFree(port)) && (await claim(port))) return port;
  }
}

/** A file is made once. That of the time before counts too, so that a claim lasts for one to two times. */
async function claim(port: number): Promise<boolean> {
  const now = Math.floor(Date.now() / CLAIM_MS);
  const fileOf = (time: number) => join(CLAIMS, `${time}-${port}`);
  if (existsSync(fileOf(now - 1))) return false;
  try {
    await writeFile(fileOf(now), '', { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** The first of `count` consecutive free ports. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = await freePort();
    const others = Array.from({ length: count - 1 }, (_, at) => first + 1 + at);
    const free = await Promise.all(others.map(async (port) => (await isFree(port)) && (await claim(port))));
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
