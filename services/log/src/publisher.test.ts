import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSigningKey } from '@ori/proof/signing';
import { cosign, cosignerKey } from '@ori/tlog/cosignature';
import { createLogKeys, renderVkeys } from '@ori/tlog/log-keys';
import { rootOf } from '@ori/tlog/merkle';
import { renderVkey } from '@ori/tlog/note';
import { type Policy, parsePolicy, requireTrusted } from '@ori/tlog/policy';
import { openTree } from '@ori/tlog/tree';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type LogFolder, openLogFolder } from './disk/log-folder.ts';
import { LogError } from './log-error.ts';
import { createPublisher } from './publisher.ts';
import type { Witnesses } from './witnesses.ts';

let place: string;
let folder: LogFolder;
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'ori-publisher-'));
  folder = await openLogFolder({ folder: place, guardFolder: join(place, 'guard') });
});
afterEach(async () => {
  await folder.close();
  await rm(place, { recursive: true });
});

const keys = createLogKeys('log.example/log', Buffer.alloc(32, 7).toString('base64'));
const vkeys = renderVkeys(keys);
const own = createSigningKey(Buffer.alloc(32, 8));
const other = createSigningKey(Buffer.alloc(32, 9));
const SIGNERS = { w1: own, w2: other } as const;

const policyOf = (quorum: string) =>
  parsePolicy(
    [
      `log ${vkeys.log}`,
      `log ${vkeys.logMlDsa}`,
      `witness w1 ${renderVkey(cosignerKey('w1', own))} https://w1.example`,
      `witness w2 ${renderVkey(cosignerKey('w2', other))} https://w2.example`,
      `witness complete ${vkeys.complete}`,
      `witness complete-ml-dsa ${vkeys.completeMlDsa}`,
      'group both all w1 w2',
      `quorum ${quorum}`,
    ].join('\n'),
    { requireMlDsa: false },
  );

/** Witnesses of which those that are named answer. */
function witnessesOf(answering: (keyof typeof SIGNERS)[]) {
  const asked: number[] = [];
  const witnesses: Witnesses = {
    async cosign({ head, text, note, subtrees }) {
      asked.push(head.size);
      expect(note.startsWith(`${text}\n`)).toBe(true);
      expect(Buffer.from(rootOf(head.size, subtrees()))).toEqual(Buffer.from(head.root));
      return new Map(answering.map((name) => [name, cosign(text, 5, name, SIGNERS[name])]));
    },
  };
  return { witnesses, asked, answering };
}

const entry = (fill: number) => Buffer.concat([Uint8Array.of(1), Buffer.alloc(96, fill)]);

function draftOf(size: number, completeAt: number | undefined = 7) {
  const tree = openTree();
  for (let at = 0; at < size; at++) tree.append(entry(at));
  return { size, root: tree.root(), partial: tree.partial(), completeAt };
}

const publisherOf = (policy?: Policy, witnesses = witnessesOf([]).witnesses) =>
  createPublisher(folder, { folder: place, keys, policy, witnesses });
const published = () => readFile(join(place, 'public/checkpoint'), 'utf8');

it('publishes what it signed, with the time up to which it is complete', async () => {
  const result = await publisherOf().publish(draftOf(2));
  expect(result).toEqual({ note: await published(), size: 2 });
  const trusted = requireTrusted(await published(), { ...policyOf('none'), requireMlDsa: true });
  expect(trusted).toMatchObject({ origin: 'log.example/log', size: 2 });
  expect([...trusted.witnessed]).toEqual([
    ['complete', 7],
    ['complete-ml-dsa', 7],
  ]);
});

it('says nothing of completeness before a source was read to its end', async () => {
  await publisherOf().publish({ ...draftOf(2), completeAt: undefined });
  expect([...requireTrusted(await published(), policyOf('none')).witnessed]).toEqual([]);
});

it('has tiles and guard on the disk before it signs', async () => {
  const { witnesses } = witnessesOf([]);
  const seen: unknown[] = [];
  await publisherOf(policyOf('none'), {
    async cosign(submission) {
      seen.push(folder.guard.head, existsSync(join(place, 'public/checkpoint')));
      return witnesses.cosign(submission);
    },
  }).publish(draftOf(2));
  expect(seen).toEqual([{ size: 2, root: draftOf(2).root }, false]);
});

it('signs no smaller tree than before, and no other one of the same size', async () => {
  const publisher = publisherOf();
  for (const size of [1, 2, 2]) expect(await publisher.publish(draftOf(size))).toMatchObject({ size });
  const before = await published();
  for (const wrong of [draftOf(1), { ...draftOf(2), root: Buffer.alloc(32) }]) {
    await expect(publisher.publish(wrong)).rejects.toMatchObject({ code: 'tree_rolled_back' });
  }
  expect([folder.guard.head?.size, await published()]).toEqual([2, before]);
});

it('makes a guard for a folder that has none', async () => {
  const { tiles, guard } = folder;
  const empty = { ...guard, head: undefined, save: guard.save };
  const publisher = createPublisher(
    { tiles, guard: empty },
    { folder: place, keys, policy: undefined, ...witnessesOf([]) },
  );
  await publisher.publish(draftOf(2));
  expect(folder.guard.head).toMatchObject({ size: 2 });
});

it('publishes only with the quorum of its policy, and asks for a tree until all have cosigned', async () => {
  const { witnesses, asked, answering } = witnessesOf(['w1']);
  const publisher = publisherOf(policyOf('both'), witnesses);
  expect(await publisher.publish(draftOf(2))).toBeUndefined();
  expect(existsSync(join(place, 'public/checkpoint'))).toBe(false);
  answering.splice(0, 1, 'w2');
  expect(await publisher.publish(draftOf(2))).toMatchObject({ size: 2 });
  expect(await publisher.publish(draftOf(2, 8))).toMatchObject({ size: 2 });
  expect(asked).toEqual([2, 2]);
  const { witnessed } = requireTrusted(await published(), policyOf('both'));
  expect([witnessed.get('w1'), witnessed.get('w2'), witnessed.get('complete')]).toEqual([5, 5, 8]);
  // A cosignature is of one tree.
  expect(await publisher.publish(draftOf(3))).toBeUndefined();
  expect(asked).toEqual([2, 2, 3]);
});

it('publishes while a witness is silent that the quorum does not need', async () => {
  const publisher = publisherOf(policyOf('w1'), witnessesOf(['w1']).witnesses);
  expect(await publisher.publish(draftOf(2))).toMatchObject({ size: 2 });
});

it('shows the last tree signed to the witnesses again, and fails if one has seen more', async () => {
  const { witnesses, asked } = witnessesOf(['w1', 'w2']);
  await publisherOf(policyOf('both'), witnesses).publish(draftOf(2));
  const again = publisherOf(policyOf('both'), witnesses);
  await again.confirm();
  await again.publish(draftOf(2));
  expect(asked).toEqual([2, 2]);
  const ahead = { cosign: () => Promise.reject(new LogError('witness_is_ahead', 'it has 3')) };
  await expect(publisherOf(policyOf('both'), ahead).confirm()).rejects.toMatchObject({
    code: 'witness_is_ahead',
  });
});

it('has nothing to show without a guard', async () => {
  const { tiles } = folder;
  const guard = { head: undefined, save: () => Promise.reject(new Error('not asked for')) };
  const { witnesses, asked } = witnessesOf([]);
  const parts = { folder: place, keys, policy: policyOf('both'), witnesses };
  await createPublisher({ tiles, guard }, parts).confirm();
  expect(asked).toEqual([]);
});
