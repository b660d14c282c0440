import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cosignerKey } from '@ori/tlog/cosignature';
import { createLogKeys } from '@ori/tlog/log-keys';
import { renderVkey } from '@ori/tlog/note';
import { parsePolicy } from '@ori/tlog/policy';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LogError } from '../log-error.ts';
import { createPublisher } from '../publisher.ts';
import { createSequencer, type SequencerEvents } from '../sequencer.ts';
import { makeFolder } from './durable-file.ts';
import { openJournal } from './journal.ts';
import { type LogFolder, openLogFolder } from './log-folder.ts';

let place: string;
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'ori-log-folder-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(place, { recursive: true });
});

const entry = (fill: number) => Buffer.concat([Uint8Array.of(1), Buffer.alloc(96, fill)]);
const opened = () => openLogFolder({ folder: join(place, 'log'), guardFolder: join(place, 'guard') });

/** A tree of two leaves that was signed. */
async function signed(): Promise<LogFolder> {
  const folder = await opened();
  const entries = [entry(1), entry(2)];
  await folder.journal.append({ entries, positions: {} });
  for (const one of entries) folder.tree.append(one);
  await folder.guard.save({ size: 2, root: folder.tree.root() });
  return folder;
}

it('does not open a journal that was rewritten to the same size after its tree was signed', async () => {
  await (await signed()).close();
  await (await opened()).close();
  await rm(join(place, 'log/journal'));
  const { journal } = await openJournal(join(place, 'log/journal'));
  await journal.append({ entries: [entry(1), entry(3)], positions: {} });
  await journal.close();
  await expect(opened()).rejects.toMatchObject({ code: 'tree_rolled_back' });
});

const witnesses = { cosign: async () => new Map() };
const keys = createLogKeys('log.example/log', Buffer.alloc(32, 7).toString('base64'));

it('signs no smaller tree than before, and no other one of the same size', async () => {
  const folder = await signed();
  const publisher = createPublisher(folder, { folder: place, keys, policy: undefined, witnesses });
  const draft = { size: 2, root: folder.tree.root(), partial: [], completeAt: 1 };
  await makeFolder(join(place, 'public'));
  expect(await publisher.publish(draft)).toMatchObject({ size: 2 });
  for (const wrong of [{ size: 1 }, { root: Buffer.alloc(32) }]) {
    await expect(publisher.publish({ ...draft, ...wrong })).rejects.toMatchObject({
      code: 'tree_rolled_back',
    });
  }
  await folder.close();
});

it('publishes nothing without the quorum of its policy', async () => {
  const folder = await signed();
  const vkey = renderVkey(cosignerKey('w1', keys.logMlDsa));
  const policy = parsePolicy(`witness w1 ${vkey}\nquorum w1`);
  const publisher = createPublisher(folder, { folder: place, keys, policy, witnesses });
  const draft = { size: 2, root: folder.tree.root(), partial: [], completeAt: 1 };
  expect(await publisher.publish(draft)).toBeUndefined();
  await folder.close();
});

const line = Buffer.from('{"a":1}');
const source = {
  peek: async () => ({ lines: [line], position: undefined, isAtEnd: true }),
  take: () => undefined,
  close: async () => undefined,
};

/** Runs a sequencer whose journal and publisher behave as given, until it fails or `until` says so. */
async function run(parts: {
  append?: () => Promise<void>;
  publish?: () => Promise<undefined>;
  failed: (stop: () => void) => void;
}): Promise<void> {
  const folder = await signed();
  const { append = folder.journal.append, publish = async () => undefined } = parts;
  const events: SequencerEvents = {
    appended: () => undefined,
    published: () => undefined,
    source: () => undefined,
    failed: () => parts.failed(() => void sequencer.stop()),
  };
  const sequencer = createSequencer({
    folder: { ...folder, journal: { ...folder.journal, append } },
    sources: new Map([['audit', source]]),
    publisher: { publish, confirm: async () => undefined },
    v1KeyOf: keys.v1KeyOf,
    intervalMs: 1,
    events,
    now: Date.now,
    journalBytesMax: Number.POSITIVE_INFINITY,
  });
  try {
    await sequencer.run();
  } finally {
    await sequencer.stop();
    await folder.close();
  }
}

it.each(['disk_doubtful', 'witness_is_ahead'] as const)(
  'stops for good on %s, in the journal as in publishing',
  async (code) => {
    const fails = () => Promise.reject(new LogError(code, 'it failed'));
    await expect(run({ append: fails, failed: () => undefined })).rejects.toMatchObject({ code });
    await rm(place, { recursive: true });
    await expect(run({ publish: fails, failed: () => undefined })).rejects.toMatchObject({ code });
  },
);

it('tries again after a failed write of the journal', async () => {
  let attempts = 0;
  const append = () => {
    attempts += 1;
    return Promise.reject(new LogError('disk', 'it is full'));
  };
  await run({ append, failed: (stop) => attempts >= 2 && stop() });
  expect(attempts).toBe(2);
});

it('a folder is made only if its parents can be synced, as far as this process may open them', async () => {
  const handle = await open('/dev/null');
  const sync = vi.spyOn(Object.getPrototypeOf(handle), 'sync');
  await handle.close();
  sync.mockRejectedValueOnce(Object.assign(new Error('lost'), { code: 'EIO' }));
  await expect(makeFolder(join(place, 'a/b'))).rejects.toThrow('lost');
  sync.mockRejectedValue(Object.assign(new Error('not mine'), { code: 'ERR_ACCESS_DENIED' }));
  await makeFolder(join(place, 'c/d'));
  expect(sync).toHaveBeenCalledTimes(3);
});
