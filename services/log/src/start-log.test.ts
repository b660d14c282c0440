import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCommitment, parseEntry } from '@ori/tlog/entry';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startTestWitness } from '../../../test/wings/transparency/log-witness.ts';
import { clientOf, openLogWorld, untilSize } from '../../../test/wings/transparency/log-world.ts';
import { appendLines, auditLines } from '../../../test/wings/transparency/signer-lines.ts';

it('each line is one leaf, which can be found by its proof and is proven by the tiles', async () => {
  await using world = await openLogWorld();
  await writeFile(world.auditFile, '');
  const log = await world.start();
  const client = clientOf(log);
  const lines = auditLines(700);
  await appendLines(world.auditFile, lines.slice(0, 300));
  await untilSize(client, 300);
  await appendLines(world.auditFile, lines.slice(300));
  const head = await untilSize(client, 700);
  expect(head.size).toBe(700);
  const leaves = await client.lookup(lines.map(({ v2 }) => v2));
  expect(leaves.size).toBe(700);
  for (const [at, { v2 }] of lines.entries()) {
    const leaf = leaves.get(Buffer.from(v2).toString('hex'));
    expect(leaf?.index).toBe(at);
    if (leaf === undefined) continue;
    expect(hasCommitment(parseEntry(leaf.entry), v2)).toBe(true);
    await client.prove(leaf, head);
  }
});

it('tells apart the audit files of two signers, whose names are the same', async () => {
  await using world = await openLogWorld();
  const [broken, whole] = ['1', '2'].map((signer) => join(world.folder, signer, 'audit.jsonl'));
  await mkdir(broken as string, { recursive: true });
  await mkdir(join(world.folder, '2'));
  await writeFile(whole as string, '');
  const log = await world.start({ LOG_AUDIT_FILES: `${broken},${whole}` });
  const metrics = async () => await (await fetch(`${log.opsUrl}/metrics`)).text();
  await expect.poll(metrics).toContain(`log_source_failing{source="${broken}"} 1`);
  expect(await metrics()).toContain(`log_source_failing{source="${whole}"} 0`);
});

it('goes on with an audit file of another name, where the former was lost', async () => {
  await using world = await openLogWorld();
  const lines = auditLines(3);
  await writeFile(world.auditFile, '');
  await appendLines(world.auditFile, lines.slice(0, 2));
  const log = await world.start();
  await untilSize(clientOf(log), 2);
  await log.stop();
  await rm(world.auditFile);
  const next = join(world.folder, 'next.jsonl');
  await writeFile(next, '');
  const again = await world.start({ LOG_AUDIT_FILES: next });
  await appendLines(next, lines.slice(2));
  const { witnessed } = await untilSize(clientOf(again), 3);
  expect(witnessed.has('complete')).toBe(true);
});

it('compacts its journal, and goes on from there after a restart', async () => {
  await using world = await openLogWorld();
  const lines = auditLines(400);
  await writeFile(world.auditFile, '');
  await appendLines(world.auditFile, lines.slice(0, 300));
  const journal = join(world.folder, 'log/journal');
  const bytes = () => stat(journal).then(({ size }) => size);
  const log = await world.start({}, { journalBytesMax: 16_384 });
  await untilSize(clientOf(log), 300);
  await expect.poll(bytes).toBeLessThan(16_384);
  await log.stop();
  const again = await world.start();
  await appendLines(world.auditFile, lines.slice(300));
  const client = clientOf(again);
  const head = await untilSize(client, 400);
  expect(head.size).toBe(400);
  const leaves = await client.lookup(lines.map(({ v2 }) => v2));
  for (const { v2 } of lines) {
    const leaf = leaves.get(Buffer.from(v2).toString('hex'));
    if (leaf === undefined) throw new Error('a proof is missing');
    await client.prove(leaf, head);
  }
});

it('waits two seconds for each answer of a witness', async () => {
  await using world = await openLogWorld();
  await using witness = await startTestWitness(world.env.LOG_ORIGIN, world.env.LOG_KEY);
  const limit = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
  onTestFinished(() => limit.mockRestore());
  await writeFile(world.auditFile, '');
  await world.start({ LOG_POLICY_FILE: witness.policyFile });
  await expect.poll(() => limit.mock.calls[0]).toEqual([2000]);
});
