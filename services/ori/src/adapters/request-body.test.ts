import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { watch } from 'node:fs';
import { appendFile, mkdtemp, open, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { bodyOf, bodyOfFile, bodyOfStream, type RequestBody } from './request-body.ts';

const { signal } = new AbortController();
const MIB = 1024 * 1024;
let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ori-body-test-'));
  file = join(folder, 'body');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function read(body: RequestBody): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body.chunks()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function expectBody(body: RequestBody, bytes: Buffer): Promise<void> {
  expect(body.bytes).toBe(bytes.length);
  expect(body.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
  expect((await read(body)).equals(bytes)).toBe(true);
  expect((await read(body)).equals(bytes), 'a second time').toBe(true);
  await body[Symbol.asyncDispose]();
}

function sample(length: number): Buffer {
  return Buffer.alloc(length, 'the quick brown fox ');
}

it.each([0, 1, 256 * 1024, 256 * 1024 + 1, 5 * MIB])(
  'hashes and returns the same %i bytes, from every source',
  async (length) => {
    const bytes = sample(length);
    await writeFile(file, bytes);
    await expectBody(bodyOf(bytes), bytes);
    await expectBody(await bodyOfFile(file, signal), bytes);
    const chunks = Array.from({ length: Math.ceil(length / 65_537) }, (_, i) =>
      bytes.subarray(i * 65_537, (i + 1) * 65_537),
    );
    await expectBody(await bodyOfStream(Readable.from(chunks), 'stdin', signal), bytes);
  },
);

it('reads a named pipe like stdin', async () => {
  await promisify(execFile)('mkfifo', [file]);
  const writer = writeFile(file, sample(100_000));
  await expectBody(await bodyOfFile(file, signal), sample(100_000));
  await writer;
});

it('stores a large body where no other process can open it', async () => {
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const seen = new Set<string>();
  using _watcher = watchFor(folder, seen);
  await using body = await bodyOfStream(Readable.from([sample(5 * MIB)]), 'stdin', signal);
  await expect.poll(() => seen.size).toBeGreaterThan(0);
  expect(await readdir(folder)).toEqual([]);
  expect((await read(body)).equals(sample(5 * MIB))).toBe(true);
});

it('names the folder that cannot keep a large body', async () => {
  vi.stubEnv('TMPDIR', join(folder, 'nowhere'));
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(bodyOfStream(Readable.from([sample(5 * MIB)]), 'stdin', signal)).rejects.toMatchObject({
    code: 'body_not_kept',
    facts: { folder: join(folder, 'nowhere') },
  });
});

it.each([
  ['a byte of it', (name: string) => overwrite(name, 5)],
  ['its last byte', (name: string) => overwrite(name, 2 * MIB - 1)],
  ['its end, longer', (name: string) => appendFile(name, 'x')],
  ['its end, shorter', (name: string) => truncate(name, MIB)],
  ['all of it', (name: string) => truncate(name, 0)],
])('never returns a complete body if %s changed since it was hashed', async (_what, change) => {
  await writeFile(file, sample(2 * MIB));
  await using body = await bodyOfFile(file, signal);
  await change(file);
  let given = 0;
  const reading = (async () => {
    for await (const chunk of body.chunks()) given += chunk.length;
  })();
  await expect(reading).rejects.toMatchObject({ code: 'body_changed' });
  expect(given).toBeLessThan(body.bytes);
});

it('names a file that cannot be read', async () => {
  await expect(bodyOfFile(join(folder, 'nowhere'), signal)).rejects.toMatchObject({
    code: 'body_unreadable',
  });
  await expect(bodyOfFile(folder, signal)).rejects.toMatchObject({ code: 'body_unreadable' });
});

it('stops waiting for input when interrupted', async () => {
  const interrupt = new AbortController();
  const reading = bodyOfStream(new PassThrough(), 'stdin', interrupt.signal);
  interrupt.abort();
  await expect(reading).rejects.toMatchObject({ code: 'interrupted' });
});

/** Collects the names of everything that is created in a folder, however briefly. */
function watchFor(folder: string, seen: Set<string>): Disposable {
  const watcher = watch(folder, (_event, name) => void seen.add(String(name)));
  return { [Symbol.dispose]: () => watcher.close() };
}

async function overwrite(name: string, position: number): Promise<void> {
  const handle = await open(name, 'r+');
  await handle.write('#', position);
  await handle.close();
}
