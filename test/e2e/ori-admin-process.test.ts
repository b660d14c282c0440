import { execFile } from 'node:child_process';
import { watch } from 'node:fs';
import { readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { startOperatorWorld } from './ori-admin-world.ts';

const KILLS = 5;

it('audit export --to writes every change once, over kills and torn lines, and beside another export', {
  timeout: 90_000,
}, async () => {
  await using world = await startOperatorWorld();
  const { admin, room } = world;
  await admin.get('migrate');
  const insertUsers = (from: number, to: number) =>
    world.query(`insert into users (id, name) select 'u' || i, 'Ada' from generate_series(${from}, ${to}) i`);
  await insertUsers(1, 20_000);
  const file = join(room.directory, 'export.jsonl');
  await writeFile(file, '');

  const exits: (number | null)[] = [];
  for (let kill = 1; kill <= KILLS; kill++) {
    const written = Promise.withResolvers<void>();
    const watcher = watch(file, () => written.resolve());
    const [{ exit }] = await Promise.all([
      admin.run(['audit', 'export', '--to', file], { killWhen: written.promise }),
      insertUsers(100_000 * kill, 100_000 * kill + 999),
    ]);
    watcher.close();
    exits.push(exit);
    // What a crash of the machine leaves of the last write.
    const { size } = await stat(file);
    await truncate(file, Math.max(0, size - kill * 41));
  }

  expect(exits).toContain(null);
  const parallel = await Promise.all([1, 2].map(() => admin.run(['audit', 'export', '--to', file])));
  expect(parallel.map(({ exit }) => exit)).toEqual([0, 0]);
  expect((await readFile(file, 'utf8')).split('\n')).toHaveLength(20_000 + KILLS * 1000 + 1);
  expect((await admin.run(['audit', 'export'])).stdout).toBe(await readFile(file, 'utf8'));

  // As if the database had been restored: later changes reuse the numbers of lost ones.
  await world.query('alter table admin_audit disable trigger append_only');
  await world.query('delete from admin_audit where seq = (select max(seq) from admin_audit)');
  expect(await admin.run(['audit', 'export', '--to', file])).toMatchObject({
    exit: 4,
    stderr: expect.stringContaining('new file'),
  });
});

it('runs through npx, hands over to the pinned Node on an older one, and exits quietly when its reader closes the pipe', async () => {
  await using world = await startOperatorWorld();
  const { admin } = world;
  await admin.get('migrate');
  const workspace = new URL('../..', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)('npx', ['--no-install', 'ori-admin', '--help'], {
    cwd: workspace,
  });
  expect(stdout).toContain('Usage: ori-admin');
  const handedOver = await admin.run(['org', 'list', '--json'], { olderNode: true });
  expect(handedOver).toMatchObject({ exit: 0, stdout: expect.stringContaining('"has_more": false') });
  expect(await admin.run(['nonsense'], { olderNode: true })).toMatchObject({ exit: 2 });
  const { exit, stderr } = await admin.run(['--help'], { readerLeaves: true });
  expect({ exit, stderr }).toEqual({ exit: 141, stderr: '' });
});
