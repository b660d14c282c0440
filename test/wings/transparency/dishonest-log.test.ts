import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { adoptTree } from '@ori/log/adopt-tree';
import { loadLogConfig } from '@ori/log/config';
import { createLogClient, fetchLog, rememberInFile, rememberInMemory } from '@ori/tlog/client';
import { parsePolicy } from '@ori/tlog/policy';
import { expect, test } from 'vitest';
import { startTestWitness } from './log-witness.ts';
import { openLogWorld, policyOf, untilSize } from './log-world.ts';
import { appendLines, auditLines } from './signer-lines.ts';

async function openWitnessedWorld() {
  const world = await openLogWorld();
  const witness = await startTestWitness(world.env['LOG_ORIGIN'] ?? '', world.env['LOG_KEY'] ?? '');
  await writeFile(world.auditFile, '');
  return {
    ...world,
    witness,
    witnessed: { LOG_POLICY_FILE: witness.policyFile },
    policy: (url: string) => parsePolicy(witness.policy(url), { requireMlDsa: true }),
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await witness[Symbol.asyncDispose]();
    },
  };
}

test('an older copy of both tree and guard is not signed: a witness knows the previous size', async () => {
  await using world = await openWitnessedWorld();
  const copy = join(world.folder, 'copy');
  const folders = ['log', 'guard'];
  const first = await world.start(world.witnessed);
  await appendLines(world.auditFile, auditLines(10));
  await untilSize(createLogClient({ policy: world.policy(first.url) }), 10);
  await first.stop();
  for (const name of folders) await cp(join(world.folder, name), join(copy, name), { recursive: true });
  const second = await world.start(world.witnessed);
  await appendLines(world.auditFile, auditLines(10));
  await untilSize(createLogClient({ policy: world.policy(second.url) }), 20);
  await second.stop();
  for (const name of folders) {
    await rm(join(world.folder, name), { recursive: true });
    await cp(join(copy, name), join(world.folder, name), { recursive: true });
  }
  await expect(world.start(world.witnessed)).rejects.toMatchObject({ code: 'witness_is_ahead' });
});

test('a tree without its guard is not signed before it was adopted, and an older copy is not adopted', async () => {
  await using world = await openWitnessedWorld();
  const { env, folder } = world;
  const adopt = () => adoptTree(loadLogConfig({ ...env, ...world.witnessed }));
  const loseGuard = () => rm(env['LOG_GUARD_FOLDER'] ?? '', { recursive: true });
  const restore = async (from: string, to: string) => {
    await rm(join(folder, to), { recursive: true, force: true });
    await cp(join(folder, from), join(folder, to), { recursive: true });
  };
  const first = await world.start(world.witnessed);
  await appendLines(world.auditFile, auditLines(3));
  await untilSize(createLogClient({ policy: world.policy(first.url) }), 3);
  await first.stop();
  await restore('log', 'older');
  const second = await world.start(world.witnessed);
  await appendLines(world.auditFile, auditLines(3));
  await untilSize(createLogClient({ policy: world.policy(second.url) }), 6);
  await second.stop();
  await expect(adopt()).rejects.toMatchObject({ code: 'guard_present' });

  await restore('log', 'latest');
  await loseGuard();
  await expect(world.start(world.witnessed)).rejects.toMatchObject({ code: 'guard_missing' });
  await restore('older', 'log');
  await expect(adopt()).rejects.toMatchObject({ code: 'witness_is_ahead' });
  await cp(join(folder, 'latest/public/checkpoint'), join(folder, 'log/public/checkpoint'));
  await expect(adopt()).rejects.toMatchObject({ code: 'tree_rolled_back' });

  await restore('latest', 'log');
  expect(await adopt()).toMatch(/6 leaves; .*checkpoint of 6 leaves, the witness w1/);
  await appendLines(world.auditFile, auditLines(1));
  const third = await world.start(world.witnessed);
  await untilSize(createLogClient({ policy: world.policy(third.url) }), 7);
});

test('a tree is not adopted while a witness is silent', async () => {
  await using world = await openWitnessedWorld();
  const log = await world.start(world.witnessed);
  await appendLines(world.auditFile, auditLines(3));
  await untilSize(createLogClient({ policy: world.policy(log.url) }), 3);
  await log.stop();
  await rm(world.env['LOG_GUARD_FOLDER'] ?? '', { recursive: true });
  await world.witness.stop();
  const adopting = adoptTree(loadLogConfig({ ...world.env, ...world.witnessed }));
  await expect(adopting).rejects.toMatchObject({ code: 'witness_silent' });
  await expect(world.start(world.witnessed)).rejects.toMatchObject({ code: 'guard_missing' });
});

test('a split view has no witness: a client that requires one refuses it, and one that has seen the other view has evidence', async () => {
  await using world = await openWitnessedWorld();
  await using fork = await openLogWorld();
  const log = await world.start(world.witnessed);
  // The key holder shows a different tree to others.
  const forked = await fork.start({ LOG_KEY: world.env['LOG_KEY'] ?? '' });
  await appendLines(world.auditFile, auditLines(5));
  await appendLines(fork.auditFile, auditLines(7));
  const remembered = rememberInMemory();
  await untilSize(createLogClient({ policy: world.policy(log.url), remembered }), 5);
  await untilSize(createLogClient({ policy: policyOf(forked) }), 7);
  const demanding = createLogClient({ policy: world.policy(forked.url) });
  await expect(demanding.latest()).rejects.toMatchObject({ code: 'quorum_missing' });
  const seen = createLogClient({ policy: { ...world.policy(forked.url), isQuorum: () => true }, remembered });
  await expect(seen.latest()).rejects.toMatchObject({ code: 'inconsistent' });
  const note = await readFile(join(fork.folder, 'log/public/checkpoint'), 'utf8');
  const submitted = await fetch(`${world.witness.url}/add-checkpoint`, {
    method: 'POST',
    body: `old 5\n\n${note}`,
  });
  expect(submitted.status).toBe(422);
});

test('a client detects a log that shows a smaller tree than before, also after a restart of the client', async () => {
  await using world = await openLogWorld();
  const file = join(world.folder, 'remembered');
  const log = await world.start();
  const policy = policyOf(log);
  await appendLines(world.auditFile, auditLines(5));
  await untilSize(createLogClient({ policy }), 5);
  const older = await readFile(join(world.folder, 'log/public/checkpoint'));
  await appendLines(world.auditFile, auditLines(5));
  await untilSize(createLogClient({ policy, remembered: rememberInFile(file) }), 10);
  const honest = fetchLog(log.url, 1000);
  const transport = {
    ...honest,
    get: (path: string, max: number) =>
      path === 'checkpoint' ? Promise.resolve(older) : honest.get(path, max),
  };
  const client = createLogClient({ policy, transport, remembered: rememberInFile(file) });
  await expect(client.latest()).rejects.toMatchObject({ code: 'rolled_back' });
});
