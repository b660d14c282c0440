import { existsSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { listenAlone } from './listen-alone.ts';

/** What another process does just before the socket is moved aside. */
let meanwhile = () => {};

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const renameSync = (from: string, to: string) => {
    meanwhile();
    fs.renameSync(from, to);
  };
  return { ...fs, renameSync };
});

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ori-listen-alone-'));
  path = join(folder, 'socket');
});
afterEach(async () => {
  meanwhile = () => {};
  await rm(folder, { recursive: true });
});

/** A file that nobody answers, as a process that ended leaves it. */
function leave(text: string, age: 'old' | 'young'): void {
  rmSync(path, { force: true });
  writeFileSync(path, text);
  if (age === 'old') utimesSync(path, 0, 0);
}

/** A server that notes at each attempt to listen what is at the path. @param onListen instead of listening */
function attempts(onListen: (attempt: number) => void = () => {}) {
  const seen: boolean[] = [];
  const server = createServer();
  const listen = server.listen.bind(server) as (path: string) => Server;
  server.listen = ((at: string) => {
    onListen(seen.push(existsSync(path)));
    return listen(at);
  }) as Server['listen'];
  return { server, seen };
}

it('replaces an old socket at once', async () => {
  leave('left', 'old');
  const { server, seen } = attempts();
  await listenAlone(server, path);
  expect(seen).toEqual([true, false]);
  server.close();
});

it('leaves a young socket to a process that is about to answer it', async () => {
  leave('bound', 'young');
  meanwhile = () => {
    throw new Error('a young socket was moved');
  };
  const rival = createServer();
  const { server, seen } = attempts((attempt) => {
    if (attempt !== 2) return;
    rmSync(path);
    rival.listen(path);
  });
  await expect(listenAlone(server, path)).rejects.toThrow('is in use by another process');
  expect(seen).toEqual([true, true]);
  rival.close();
});

it('puts back what another process put in the place of an old socket', async () => {
  leave('left', 'old');
  meanwhile = () => leave('rival', 'young');
  const stop = new Error('seen');
  const { server } = attempts((attempt) => {
    if (attempt === 2) throw stop;
  });
  await expect(listenAlone(server, path)).rejects.toBe(stop);
  expect(await readFile(path, 'utf8')).toBe('rival');
});
