import { expect, it } from 'vitest';
import { createPendingProofs, type PendingProof } from './pending-proofs.ts';

const proofOf = (proof: string): PendingProof<string> => ({ commitment: '00', proof, acceptedAt: 1 });

function open(load: () => Promise<string | undefined> = async () => undefined) {
  const saved: string[][] = [];
  const save = async (text: string) =>
    void saved.push((JSON.parse(text) as PendingProof<string>[]).map(({ proof }) => proof));
  return { saved, pending: createPendingProofs<string>({ load, save }) };
}

it('saves that no proof waits any more, once', async () => {
  const { saved, pending } = open();
  await pending.load();
  await pending.save();
  pending.add(proofOf('one'));
  await pending.save();
  pending.remove(new Set(pending.all));
  await pending.save();
  await pending.save();
  expect(saved).toEqual([['one'], []]);
});

it('loads what an earlier process saved before its own, once', async () => {
  const { saved, pending } = open(async () => JSON.stringify([proofOf('former')]));
  pending.add(proofOf('own'));
  await pending.load();
  await pending.load();
  expect(pending.all.map(({ proof }) => proof)).toEqual(['former', 'own']);
  pending.remove(new Set(pending.all.slice(0, 1)));
  expect(pending.all.map(({ proof }) => proof)).toEqual(['own']);
  await pending.save();
  expect(saved).toEqual([['own']]);
});

it('saves that none of those waits that an earlier process saved', async () => {
  const { saved, pending } = open(async () => JSON.stringify([proofOf('former')]));
  await pending.load();
  pending.remove(new Set(pending.all));
  await pending.save();
  expect(saved).toEqual([[]]);
});

it('overwrites nothing that it has not read', async () => {
  const { saved, pending } = open(async () => '[{');
  pending.add(proofOf('own'));
  await pending.save();
  await expect(pending.load()).rejects.toThrow(SyntaxError);
  await pending.load();
  await pending.save();
  expect([saved, pending.all.length]).toEqual([[], 1]);
});

it('keeps proofs in memory where there is no store', async () => {
  const pending = createPendingProofs<string>(undefined);
  await pending.load();
  pending.add(proofOf('own'));
  await pending.save();
  expect(pending.all).toHaveLength(1);
});
