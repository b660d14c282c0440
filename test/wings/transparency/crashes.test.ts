import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLogClient } from '@ori/tlog/client';
import { type ProofEntry, parseEntry } from '@ori/tlog/entry';
import { type Policy, parsePolicy, requireTrusted } from '@ori/tlog/policy';
import { expect, test } from 'vitest';
import { startTestWitness } from './log-witness.ts';
import { openLogWorld, untilSize } from './log-world.ts';
import { type AuditLine, appendLines, auditLines } from './signer-lines.ts';

/** `TRANSPARENCY_KILLS=500 npx vitest run test/wings/transparency/crashes.test.ts` is the long run. */
const KILLS = Number(process.env['TRANSPARENCY_KILLS'] ?? 3);
/** Maximum lines between two kills: about 50,000 in the long run. */
const LINES_MAX = Math.min(2000, 200_000 / KILLS);
/** Disk operations between a start and the first checkpoint, plus some more. */
const OPERATIONS = 90;
const ROOT = join(import.meta.dirname, '../../..');

function runLog(env: Record<string, string>) {
  const child = spawn(
    process.execPath,
    ['--import', join(import.meta.dirname, 'broken-disk.ts'), join(ROOT, 'services/log/src/main.ts')],
    { env: { PATH: process.env['PATH'] ?? '', ...env }, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  return { child, ended: once(child, 'exit') };
}

/** What was published so far: the root of each size, and the largest size. */
function createWatch(policy: Policy) {
  const roots = new Map<number, string>();
  let largest = 0;
  return {
    async look(folder: string): Promise<number> {
      const note = await readFile(join(folder, 'log/public/checkpoint'), 'utf8').catch(() => undefined);
      if (note === undefined) return largest;
      const { size, root } = requireTrusted(note, policy);
      const base64 = Buffer.from(root).toString('base64');
      expect(roots.get(size) ?? base64).toBe(base64);
      expect(size).toBeGreaterThanOrEqual(largest);
      roots.set(size, base64);
      largest = size;
      return size;
    },
  };
}

/** Starts the log once more and reads the whole tree, which must contain each line once, in the order of the audit file. */
async function expectWhole(
  world: Awaited<ReturnType<typeof openLogWorld>>,
  policyText: string,
  lines: readonly AuditLine[],
  env: Record<string, string>,
) {
  const log = await world.start(env);
  const client = createLogClient({ policy: parsePolicy(policyText), url: log.url });
  const head = await untilSize(client, lines.length, 600_000);
  expect(head.size).toBe(lines.length);
  const found: string[] = [];
  for (let bundle = 0; bundle * 256 < head.size; bundle++) {
    for (const entry of await client.bundle(bundle, head))
      found.push(Buffer.from((parseEntry(entry) as ProofEntry).v2).toString('hex'));
  }
  expect(found).toEqual(lines.map(({ v2 }) => Buffer.from(v2).toString('hex')));
}

// Both wait for processes: concurrently.
test.concurrent(`killed at ${KILLS} random disk operations, torn writes included, it neither loses nor duplicates a line and signs one tree`, async () => {
  await using world = await openLogWorld();
  await using witness = await startTestWitness(world.env['LOG_ORIGIN'] ?? '', world.env['LOG_KEY'] ?? '');
  const policy = parsePolicy(witness.policy());
  const env = { ...world.env, LOG_POLICY_FILE: witness.policyFile };
  const watch = createWatch(policy);
  const lines: AuditLine[] = [];
  await writeFile(world.auditFile, '');
  let rotated = 0;
  const at = Date.now();

  for (let kill = 0; kill < KILLS; kill++) {
    const more = auditLines(1 + Math.floor(Math.random() ** 3 * LINES_MAX), at + kill * 20_000);
    lines.push(...more);
    await appendLines(world.auditFile, more);
    if (Math.random() < 0.2) {
      await rename(world.auditFile, `${world.auditFile}-${rotated++}`);
      const next = auditLines(3, at + kill * 20_000 + 10_000);
      lines.push(...next);
      await appendLines(world.auditFile, next);
    }
    const dieAt = 1 + Math.floor(Math.random() * OPERATIONS);
    const { child, ended } = runLog({ ...env, BROKEN_DISK_DIE_AT: String(dieAt) });
    const idle = setTimeout(() => child.kill('SIGKILL'), 3000);
    await ended;
    clearTimeout(idle);
    expect(child.signalCode).toBe('SIGKILL');
    await watch.look(world.folder);
  }
  await expectWhole(world, witness.policy(), lines, { LOG_POLICY_FILE: witness.policyFile });
}, 3_600_000);

/** Operations of a running log: if the disk is full at startup, the log does not start. */
const FULL = '24-60';

test.concurrent('while the disk is full it waits, and it loses nothing', async () => {
  await using world = await openLogWorld();
  await using witness = await startTestWitness(world.env['LOG_ORIGIN'] ?? '', world.env['LOG_KEY'] ?? '');
  const env = { ...world.env, LOG_POLICY_FILE: witness.policyFile, BROKEN_DISK_FULL: FULL };
  const watch = createWatch(parsePolicy(witness.policy()));
  const lines = auditLines(600);
  await writeFile(world.auditFile, '');
  await appendLines(world.auditFile, lines);
  const { child, ended } = runLog(env);
  while ((await watch.look(world.folder)) < lines.length) {
    expect(child.exitCode).toBe(null);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  child.kill('SIGTERM');
  await ended;
  await expectWhole(world, witness.policy(), lines, { LOG_POLICY_FILE: witness.policyFile });
}, 120_000);
