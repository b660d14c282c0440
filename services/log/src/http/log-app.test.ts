import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startApiServer } from '@ori/http/server';
import { encodeCommitments, LOOKUP_MAX } from '@ori/tlog/lookup';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createLogApp, logRoutes } from './log-app.ts';

const TILE = Buffer.alloc(64, 1);
const ENTRY = Buffer.alloc(97, 2);
const KNOWN = Buffer.alloc(32, 3);
const DEADLINE_MS = 2000;

let folder: string;
let server: Awaited<ReturnType<typeof startApiServer>>;
let note: string | undefined;
let find: (commitment: Uint8Array) => Promise<{ index: number; entry: Uint8Array } | undefined>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ori-log-app-'));
  const tiles = ['0/000', '0/001.p/2', 'entries/000', '63/x001/x234/x567/089.p/5'];
  for (const path of [...tiles.map((tile) => `tile/${tile}`), 'checkpoint', 'tile/0/0']) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), TILE);
  }
  const app = createLogApp('/a/log', {
    folder,
    checkpoint: () => note,
    lookup: { find: (commitment) => find(commitment) },
  });
  server = await startApiServer({ app, host: '127.0.0.1', port: 0, deadlineMs: DEADLINE_MS });
});
afterAll(async () => {
  await server.stop({ graceMs: 0 });
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  note = 'the note ✓\n';
  find = async (commitment) => (KNOWN.equals(commitment) ? { index: 7, entry: ENTRY } : undefined);
});

const ask = (path: string, init?: RequestInit) => fetch(`${server.url}/a/log/${path}`, init);
const lookup = (body: string) => ask('lookup', { method: 'POST', body });

it('shows the last checkpoint, which nobody may keep, or that there is none yet', async () => {
  const answer = await ask('checkpoint');
  expect([answer.status, await answer.text()]).toEqual([200, note]);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'content-length': String(Buffer.from(note ?? '').length),
    'cache-control': 'no-store',
  });
  note = undefined;
  expect((await ask('checkpoint')).status).toBe(503);
});

it.each(['0/000', '0/001.p/2', 'entries/000', '63/x001/x234/x567/089.p/5'])(
  'serves the tile %s, which anyone may keep, and its size alone',
  async (tile) => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await ask(`tile/${tile}`, { method });
      expect(answer.status).toBe(200);
      expect(Buffer.from(await answer.arrayBuffer())).toEqual(method === 'GET' ? TILE : Buffer.alloc(0));
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'application/octet-stream',
        'content-length': '64',
        'cache-control': 'public, max-age=31536000, immutable',
      });
    }
  },
);

it.each(['tile/0/002', 'tile/0/0', 'tile/0/..%2f..%2fcheckpoint', 'tile/0/%30%30%30', 'tile/0', 'journal'])(
  'has no tile %s',
  async (path) => {
    expect((await ask(path)).status).toBe(404);
  },
);

it('finds the entries of commitments, and leaves out those that it does not have', async () => {
  const answer = await lookup(encodeCommitments([KNOWN, Buffer.alloc(32, 4)]));
  expect(await answer.json()).toEqual({
    found: { [KNOWN.toString('hex')]: { index: 7, entry: ENTRY.toString('hex') } },
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(answer.headers.get('content-length')).toMatch(/^\d+$/);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const most = Array.from({ length: LOOKUP_MAX }, () => KNOWN);
  expect((await lookup(encodeCommitments(most))).status).toBe(200);
});

it.each([
  ['no JSON', 'hello', 400],
  ['no commitments', '{}', 400],
  ['too many commitments', encodeCommitments(Array.from({ length: LOOKUP_MAX + 1 }, () => KNOWN)), 400],
  ['more than 128 KiB', `"${'x'.repeat(128 * 1024)}"`, 413],
])('refuses a lookup of %s', async (_what, body, status) => {
  expect((await lookup(body)).status).toBe(status);
});

it('refuses other methods and answers a failure with 500', async () => {
  expect((await ask('lookup')).status).toBe(405);
  expect((await ask('checkpoint', { method: 'POST' })).status).toBe(405);
  find = () => Promise.reject(new Error('EIO'));
  expect((await lookup(encodeCommitments([KNOWN]))).status).toBe(500);
});

it('looks nothing up any more once the deadline has passed', async () => {
  let calls = 0;
  find = async () => {
    const until = performance.now() + DEADLINE_MS;
    calls += 1;
    while (performance.now() < until);
    return undefined;
  };
  expect((await lookup(encodeCommitments([KNOWN, KNOWN]))).status).toBe(408);
  expect(calls).toBe(1);
});

it('names every path that it serves for the log of requests', () => {
  const { checkpoint, lookup, tiles } = logRoutes('/log');
  expect([checkpoint, lookup, tiles[0], tiles.at(-1)]).toEqual([
    '/log/checkpoint',
    '/log/lookup',
    '/log/tile/{level}/{a}',
    '/log/tile/{level}/{a}/{b}/{c}/{d}/{e}',
  ]);
});
