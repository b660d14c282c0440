import { randomBytes } from 'node:crypto';
import { afterEach, expect, it, vi } from 'vitest';
import { renderCheckpoint } from '../checkpoint.ts';
import { cosign } from '../cosignature.ts';
import { renderEntry } from '../entry.ts';
import { createLogKeys, type LogKeys } from '../log-keys.ts';
import { EMPTY_ROOT, leafHash, rootOf, sha256 } from '../merkle.ts';
import { parseNote, renderNote, renderSignature, renderVkey, signNote } from '../note.ts';
import { parsePolicy } from '../policy.ts';
import { bundled, parseTilePath, readTile, subtreesOf, tilePath } from '../tile.ts';
import { TlogError } from '../tlog-error.ts';
import { openTree } from '../tree.ts';
import { createLogClient, type LogTransport } from './log-client.ts';
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
  /** The leaves of tiles that it still has of a larger tree. */
  had = 0;
  /** Tiles that it does not have. */
  gone = (_path: string): boolean => false;
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
    const tile = parseTilePath(path);
    if (tile === undefined || this.gone(path)) return undefined;
    const width = Math.min(tile.width, Math.max(this.size, this.had));
    if (tile.level === 0) return this.disturb(path, this.leaves(width));
    const entries = Array.from({ length: width }, (_, index) => bundled(this.entry(index)));
    return this.disturb(path, Buffer.concat(entries));
  }
}

const policyOf = (...logs: SmallLog[]) => ({
  logs: logs.map(({ keys }) => ({ key: keys.logKey, url: undefined })),
  witnesses: new Map(),
  isQuorum: () => true,
});

const transportOf = (log: () => SmallLog) => ({
  get: async (path: string, bytesMax: number) => bounded(log().answer(path), bytesMax),
  post: () => expect.unreachable(),
});

/** As `fetchLog` does it. */
function bounded<Bytes extends Buffer | undefined>(bytes: Bytes, bytesMax: number): Bytes {
  if (bytes !== undefined && bytes.length > bytesMax) throw new TlogError('unavailable', 'too large');
  return bytes;
}

function openClient(size: number) {
  const log = new SmallLog('log.example/one');
  log.size = size;
  return { log, client: createLogClient({ policy: policyOf(log), transport: transportOf(() => log) }) };
}

it('an entry keeps no more memory than its bytes', () => {
  expect(entryNamed('one').buffer.byteLength).toBe(97);
});

it('one wrong tile does not keep later proofs from verifying', async () => {
  const { log, client } = openClient(5);
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
  const { log, client } = openClient(5);
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
  [first.size, first.had] = [5, 10];
  current = first;
  await expect(client.latest()).rejects.toMatchObject({ code: 'rolled_back' });
  await expect(open().latest()).rejects.toMatchObject({ code: 'rolled_back' });
  [first.size, first.branch] = [10, 'forked '];
  await expect(client.latest()).rejects.toMatchObject({ code: 'inconsistent' });
  await expect(open().latest()).rejects.toMatchObject({ code: 'inconsistent' });
  [first.size, first.branch] = [11, ''];
  expect((await open().latest()).size).toBe(11);
});

it('shows both checkpoints where they contradict each other, also if the log no longer has the larger tree', async () => {
  for (const gone of [false, true]) {
    const { log, client } = openClient(10);
    const former = await client.latest();
    [log.size, log.had] = [5, 10];
    log.gone = () => gone;
    const rolledBack = await client.latest().catch((error) => error);
    expect(rolledBack.code).toBe('rolled_back');
    const latest = log.answer('checkpoint')?.toString() ?? '';
    for (const note of [former.note, latest]) expect(rolledBack.message).toContain(note);
  }
  const { log, client } = openClient(10);
  const former = await client.latest();
  log.branch = 'forked ';
  const inconsistent = await client.latest().catch((error) => error);
  for (const note of [former.note, log.answer('checkpoint')?.toString() ?? ''])
    expect(inconsistent.message).toContain(note);
});

it('takes no failure to answer, and no other failure, for a contradiction', async () => {
  const { log, client } = openClient(5);
  await client.latest();
  log.size = 10;
  log.gone = () => true;
  await expect(client.latest()).rejects.toMatchObject({ code: 'unavailable' });
  const larger = openClient(10);
  await larger.client.latest();
  larger.log.size = 5;
  larger.log.gone = () => {
    throw new RangeError('a bug');
  };
  await expect(larger.client.latest()).rejects.toThrow(RangeError);
});

it('saves a checkpoint once, and again until that succeeds', async () => {
  const log = new SmallLog('log.example/one');
  log.size = 5;
  const { load, save } = rememberInMemory();
  const saved: string[] = [];
  let isFull = true;
  const client = createLogClient({
    policy: policyOf(log),
    transport: transportOf(() => log),
    remembered: {
      load,
      async save(text) {
        if (isFull) throw new Error('disk full');
        saved.push(text);
        await save(text);
      },
    },
  });
  await expect(client.latest()).rejects.toThrow('disk full');
  isFull = false;
  const { note } = await client.latest();
  await client.latest();
  expect(saved).toEqual([note]);
});

it('remembers a checkpoint with all of its signatures', async () => {
  const strange = new SmallLog('log.example/one').keys;
  const log = new SmallLog('log.example/one');
  log.size = 5;
  log.disturb = (path, bytes) => {
    if (path !== 'checkpoint') return bytes;
    const [text = '', own] = bytes.toString().split('\n\n');
    const stranger = signNote(`${text}\n`, log.origin, strange.log);
    return Buffer.from(`${text}\n\n${renderSignature(stranger)}\n${own}`);
  };
  const { load, save } = rememberInMemory();
  const saved: string[] = [];
  const remembered = {
    load,
    save(text: string) {
      saved.push(text);
      return save(text);
    },
  };
  const open = () =>
    createLogClient({ policy: policyOf(log), transport: transportOf(() => log), remembered });
  const { note } = await open().latest();
  await open().latest();
  expect(saved).toEqual([note]);
});

it('takes a checkpoint that 32 witnesses cosigned with ML-DSA-44', async () => {
  const { log, client } = openClient(5);
  const { text, signatures } = parseNote(log.answer('checkpoint')?.toString() ?? '');
  const cosigned = Array.from({ length: 32 }, (_, at) => ({
    name: `w${at}`,
    id: '00000000',
    bytes: randomBytes(2428),
  }));
  log.disturb = () => Buffer.from(renderNote({ text, signatures: [...signatures, ...cosigned] }));
  expect((await client.latest()).size).toBe(5);
});

it('remembers checkpoints that were trusted under another quorum, and without ML-DSA-44', async () => {
  const log = new SmallLog('log.example/one');
  log.size = 10;
  const remembered = rememberInMemory();
  const transport = transportOf(() => log);
  const { note } = await createLogClient({ policy: policyOf(log), transport, remembered }).latest();
  const { logKey, logMlDsaKey, completeKey } = log.keys;
  const lines = [logKey, logMlDsaKey].map((key) => `log ${renderVkey(key)}`);
  const strict = [...lines, `witness w ${renderVkey(completeKey)}`, 'quorum w'].join('\n');
  log.size = 5;
  const signed = log.answer('checkpoint')?.toString() ?? '';
  const text = signed.slice(0, signed.indexOf('\n\n') + 1);
  const more = [cosign(text, 0, log.origin, log.keys.logMlDsa)];
  for (const key of log.keys.complete) more.push(cosign(text, 9, `${log.origin}/complete`, key));
  log.disturb = (path, bytes) =>
    path === 'checkpoint'
      ? Buffer.from(signed + more.map((one) => `${renderSignature(one)}\n`).join(''))
      : bytes;
  log.had = 10;
  const policies = [
    parsePolicy(strict),
    { ...parsePolicy(strict.replace('quorum w', 'quorum none')), requireMlDsa: true },
  ];
  for (const policy of policies) {
    const error = await createLogClient({ policy, transport, remembered })
      .latest()
      .catch((error) => error);
    expect(error.code).toBe('rolled_back');
    expect(error.message).toContain(note);
  }
});

it('trusts no other checkpoint while what it remembered is damaged', async () => {
  const log = new SmallLog('log.example/one');
  log.size = 10;
  const remembered = rememberInMemory();
  const open = () =>
    createLogClient({ policy: policyOf(log), transport: transportOf(() => log), remembered });
  const { note } = await open().latest();
  log.size = 5;
  for (const damaged of ['', '\0'.repeat(note.length), note.slice(0, -9), `${note}\nlog.exam`]) {
    await remembered.save(damaged);
    await expect(open().latest()).rejects.toMatchObject({ code: 'signature_invalid' });
    expect(await remembered.load()).toBe(damaged);
  }
});

it('begins anew with a log that replaced the one it remembers, once the policy has only the new one', async () => {
  const [former, next] = [new SmallLog('log.example/1'), new SmallLog('log.example/10')];
  [former.size, next.size] = [10, 3];
  const remembered = rememberInMemory();
  const open = (log: SmallLog) =>
    createLogClient({ policy: policyOf(log), transport: transportOf(() => log), remembered });
  await open(former).latest();
  expect((await open(next).latest()).size).toBe(3);
  [next.size, next.had] = [2, 3];
  await expect(open(next).latest()).rejects.toMatchObject({ code: 'rolled_back' });
});

it('takes an answer that a later one overtook for no smaller tree', async () => {
  const log = new SmallLog('log.example/one');
  log.size = 5;
  const { promise: late, resolve: arrive } = Promise.withResolvers<void>();
  let asked = 0;
  const transport: LogTransport = {
    async get(path) {
      const answer = log.answer(path);
      if (path === 'checkpoint' && asked++ === 0) await late;
      return answer;
    },
    post: () => expect.unreachable(),
  };
  const client = createLogClient({ policy: policyOf(log), transport });
  const first = client.latest();
  log.size = 10;
  const second = client.latest();
  await new Promise(setImmediate);
  arrive();
  expect([(await first).size, (await second).size]).toEqual([5, 5]);
  expect((await client.latest()).size).toBe(10);
});

it('finds a log without a checkpoint unavailable', async () => {
  const log = new SmallLog('log.example/one');
  const transport: LogTransport = { get: async () => undefined, post: () => expect.unreachable() };
  const client = createLogClient({ policy: policyOf(log), transport });
  await expect(client.latest()).rejects.toMatchObject({ code: 'unavailable' });
});

it('proves no leaf that is not in the tree', async () => {
  const { log, client } = openClient(5);
  const head = await client.latest();
  expect(await client.prove({ index: 4, entry: log.entry(4) }, head)).toHaveLength(1);
  for (const leaf of [
    { index: 4, entry: log.entry(3) },
    { index: 3, entry: log.entry(4) },
    { index: 5, entry: log.entry(5) },
  ])
    await expect(client.prove(leaf, head)).rejects.toMatchObject({ code: 'inclusion_invalid' });
  const empty = { size: 0, root: EMPTY_ROOT };
  await expect(client.prove({ index: 0, entry: log.entry(0) }, empty)).rejects.toMatchObject({
    code: 'inclusion_invalid',
  });
});

it('returns the entries of a bundle if each is in the tree, out of the full one where the partial one is gone', async () => {
  const { log, client } = openClient(5);
  const head = await client.latest();
  const entries = [0, 1, 2, 3, 4].map((index) => Buffer.from(log.entry(index)));
  expect(await client.bundle(0, head)).toEqual(entries);
  log.had = 7;
  log.gone = (path) => path.startsWith('tile/entries/') && path.includes('.p/');
  expect(await client.bundle(0, head)).toEqual(entries);
  log.gone = (path) => path.startsWith('tile/entries/');
  await expect(client.bundle(0, head)).rejects.toMatchObject({ code: 'unavailable' });
});

it('refuses a bundle with a wrong entry, or without the last', async () => {
  const { log, client } = openClient(5);
  const head = await client.latest();
  const answerWith = (change: (bytes: Buffer) => Buffer) => {
    log.disturb = (path, bytes) => (path.startsWith('tile/entries/') ? change(bytes) : bytes);
  };
  answerWith((bytes) => bytes.subarray(0, -99));
  await expect(client.bundle(0, head)).rejects.toMatchObject({ code: 'malformed' });
  answerWith((bytes) => bytes.fill(1, bytes.length - 1));
  await expect(client.bundle(0, head)).rejects.toMatchObject({ code: 'inclusion_invalid' });
});

it('proves the entries of a later bundle at their places', async () => {
  const tree = openTree();
  const made = Array.from({ length: 300 }, (_, index) => tree.append(entryNamed(`${index}`))).flat();
  const tiles = new Map(
    [...made, ...tree.partial()].map((tile) => [tilePath(tile), Buffer.from(tile.bytes)]),
  );
  const log = new SmallLog('log.example/one');
  const client = createLogClient({
    policy: policyOf(log),
    transport: {
      get: async (path, bytesMax) => bounded(tiles.get(path), bytesMax),
      post: () => expect.unreachable(),
    },
  });
  const entries = await client.bundle(1, { size: 300, root: tree.root() });
  expect(entries.map((one) => Buffer.from(one))).toEqual(
    Array.from({ length: 44 }, (_, at) => Buffer.from(entryNamed(`${256 + at}`))),
  );
});

it('asks for 1,000 commitments at a time, and believes no malformed answer', async () => {
  const log = new SmallLog('log.example/one');
  const batches: number[] = [];
  let wrong: string | undefined;
  const client = createLogClient({
    policy: policyOf(log),
    transport: {
      get: () => expect.unreachable(),
      async post(path, body, bytesMax) {
        const { commitments } = JSON.parse(body) as { commitments: string[] };
        batches.push(commitments.length);
        expect(path).toBe('lookup');
        const found = Object.fromEntries(commitments.map((hex, index) => [hex, { index, entry: '0a0b' }]));
        return bounded(Buffer.from(wrong ?? JSON.stringify({ found })), bytesMax);
      },
    },
  });
  const hashes = Array.from({ length: 2001 }, (_, index) => sha256(Buffer.from(`${index}`)));
  const leaves = await client.lookup(hashes);
  expect([leaves.size, batches]).toEqual([2001, [1000, 1000, 1]]);
  expect(leaves.get(Buffer.from(hashes[1001] ?? '').toString('hex'))).toEqual({
    index: 1,
    entry: Buffer.from([10, 11]),
  });
  batches.length = 0;
  expect(await client.lookup([])).toEqual(new Map());
  await client.lookup(hashes.slice(0, 1000));
  expect(batches).toEqual([1000]);
  wrong = '{}';
  await expect(client.lookup(hashes.slice(0, 1))).rejects.toMatchObject({ code: 'malformed' });
});

afterEach(() => void vi.unstubAllGlobals());

it('asks at the address that it is given, or else at the first of the policy', async () => {
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (url: string) => {
    asked.push(url);
    return new Response('', { status: 404 });
  });
  const [log, other] = [new SmallLog('log.example/one'), new SmallLog('log.example/two')];
  const policy = {
    ...policyOf(),
    logs: [
      { key: log.keys.logKey, url: undefined },
      { key: log.keys.logMlDsaKey, url: 'https://one.example' },
      { key: other.keys.logKey, url: 'https://two.example' },
    ],
  };
  for (const url of [undefined, 'https://given.example'])
    await expect(createLogClient({ policy, url }).latest()).rejects.toMatchObject({ code: 'unavailable' });
  expect(asked).toEqual(['https://one.example/checkpoint', 'https://given.example/checkpoint']);
  expect(() => createLogClient({ policy: policyOf(log) })).toThrow(TypeError);
});
