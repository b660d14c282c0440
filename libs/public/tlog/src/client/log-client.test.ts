import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { renderCheckpoint } from '../checkpoint.ts';
import { renderEntry } from '../entry.ts';
import { createLogKeys, type LogKeys } from '../log-keys.ts';
import { leafHash, rootOf, sha256 } from '../merkle.ts';
import { renderNote, signNote } from '../note.ts';
import { readTile, subtreesOf } from '../tile.ts';
import { createLogClient } from './log-client.ts';
import { rememberInMemory } from './remembered.ts';

const entryNamed = (name: string) => {
  const hash = sha256(Buffer.from(name));
  return renderEntry({ kind: 'proof', v2: hash, v1: hash, line: hash });
};

/** A log of up to 256 entries, as its answers. */
class SmallLog {
  readonly origin: string;
  readonly keys: LogKeys;
  size = 0;
  /** Another one is another history under the same keys. */
  branch = '';
  /** Changes the next answers. */
  disturb: (path: string, bytes: Buffer) => Buffer = (_, bytes) => bytes;

  constructor(origin: string) {
    this.origin = origin;
    this.keys = createLogKeys(origin, randomBytes(32).toString('base64'));
  }

  entry(index: number): Uint8Array {
    return entryNamed(`${this.origin} ${this.branch}${index}`);
  }

  leaves(size: number): Buffer {
    return Buffer.concat(Array.from({ length: size }, (_, index) => leafHash(this.entry(index))));
  }

  answer(path: string): Buffer | undefined {
    if (path === 'checkpoint') {
      const tile = readTile(this.leaves(this.size), this.size);
      const root = rootOf(
        this.size,
        subtreesOf(() => tile),
      );
      const text = renderCheckpoint({ origin: this.origin, size: this.size, root });
      const note = renderNote({ text, signatures: [signNote(text, this.origin, this.keys.log)] });
      return this.disturb(path, Buffer.from(note));
    }
    const width = Number(/^tile\/0\/000\.p\/(\d+)$/.exec(path)?.[1]);
    return width > 0 ? this.disturb(path, this.leaves(width)) : undefined;
  }
}

const policyOf = (...logs: SmallLog[]) => ({
  logs: logs.map(({ keys }) => ({ key: keys.logKey, url: undefined })),
  witnesses: new Map(),
  isQuorum: () => true,
});

const transportOf = (log: () => SmallLog) => ({
  get: async (path: string) => log().answer(path),
  post: async () => Buffer.from('{"found":{}}'),
});

it('an entry keeps no more memory than its bytes', () => {
  expect(entryNamed('one').buffer.byteLength).toBe(97);
});

it('one wrong tile does not keep later proofs from verifying', async () => {
  const log = new SmallLog('log.example/one');
  log.size = 5;
  const client = createLogClient({ policy: policyOf(log), transport: transportOf(() => log) });
  const head = await client.latest();
  log.disturb = (path, bytes) => {
    if (path.startsWith('tile/')) bytes.writeUInt8(bytes.readUInt8(0) ^ 1, 0);
    return bytes;
  };
  await expect(client.prove({ index: 2, entry: log.entry(2) }, head)).rejects.toMatchObject({
    code: 'inclusion_invalid',
  });
  log.disturb = (_, bytes) => bytes;
  await client.prove({ index: 2, entry: log.entry(2) }, head);
});

it('a tile that was kept with an unverified part is fetched again when that part is needed', async () => {
  const log = new SmallLog('log.example/one');
  log.size = 5;
  const client = createLogClient({ policy: policyOf(log), transport: transportOf(() => log) });
  const head = await client.latest();
  // The proof of leaf 4 needs the root of leaves 0 to 3 only: it verifies nothing about leaf 4's own hash in the tile.
  log.disturb = (path, bytes) => {
    if (path.startsWith('tile/')) bytes.writeUInt8(bytes.readUInt8(4 * 32) ^ 1, 4 * 32);
    return bytes;
  };
  await client.prove({ index: 4, entry: log.entry(4) }, head);
  log.disturb = (_, bytes) => bytes;
  await client.prove({ index: 0, entry: log.entry(0) }, head);
});

it('remembers a checkpoint of each log of the policy, also after a restart', async () => {
  const [first, second] = [new SmallLog('log.example/a'), new SmallLog('log.example/b')];
  [first.size, second.size] = [10, 3];
  let current = first;
  const remembered = rememberInMemory();
  const open = () =>
    createLogClient({ policy: policyOf(first, second), transport: transportOf(() => current), remembered });
  const client = open();
  await client.latest();
  current = second;
  await client.latest();
  first.size = 5;
  current = first;
  await expect(client.latest()).rejects.toMatchObject({ code: 'rolled_back' });
  await expect(open().latest()).rejects.toMatchObject({ code: 'rolled_back' });
  [first.size, first.branch] = [10, 'forked '];
  await expect(client.latest()).rejects.toMatchObject({ code: 'inconsistent' });
  await expect(open().latest()).rejects.toMatchObject({ code: 'inconsistent' });
  [first.size, first.branch] = [11, ''];
  expect((await open().latest()).size).toBe(11);
});
