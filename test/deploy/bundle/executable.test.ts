import { execFile, execFileSync } from 'node:child_process';
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildExecutable, CAN_BUILD } from '../../../deploy/bundle/executable.ts';
import { INTERN_ID, openSignedInWorld } from '../../e2e/cli-world.ts';
import { openGuardWorld } from '../../env/guard-world.ts';
import { freePort } from '../../env/ports.ts';
import { rawClient } from '../../env/raw-client.ts';
import { openRoom } from '../../env/room.ts';
import { ServerProcess } from '../../env/server-process.ts';

const run = promisify(execFile);

describe.runIf(CAN_BUILD)('the executable of ori', () => {
  const stack = new AsyncDisposableStack();
  let folder: string;
  let file: string;
  beforeAll(async () => {
    ({ directory: folder } = stack.use(await openRoom('ori-executable')));
    file = await buildExecutable(folder);
  });
  afterAll(() => stack.disposeAsync());

  /** Alone: no PATH, so no Node, and no other file. */
  const alone = (args: readonly string[], env: Record<string, string> = {}) =>
    run(file, args, { cwd: '/', env: { HOME: folder, PATH: '/nonexistent', ...env } });

  it('needs no Node, and no other file', async () => {
    expect((await alone(['--version'])).stdout).toBe('1.0.0\n');
  });

  it.runIf(process.getuid?.() === 0)('runs in a root that has nothing else but the C libraries', async () => {
    const root = join(folder, 'root');
    const { stdout: needed } = await run('ldd', [file]);
    const libraries = needed.match(/\/\S+(?= \()/g) ?? [];
    await mkdir(root);
    await run('cp', ['--parents', '--dereference', ...libraries, root]);
    await copyFile(file, join(root, 'ori'));
    const alone = (...args: string[]) =>
      run('/usr/sbin/chroot', [root, '/ori', ...args], { env: { HOME: '/' } });
    expect((await alone('version')).stdout).toBe('1.0.0\n');
    const failure = await alone('whoami').catch((error) => error);
    expect(failure).toMatchObject({ code: 3, stderr: expect.stringContaining('ori login') });
    expect(libraries.map((library) => basename(library).replace(/[.-].*/, '')).sort()).toEqual([
      ...['ld', 'libc', 'libdl', 'libgcc_s', 'libm', 'libpthread', 'libstdc++'],
    ]);
  });

  it('signs and calls with a stored session', async () => {
    const { world, home } = await openSignedInWorld();
    const env = {
      HOME: home.folder,
      ORI_BASE_URL: world.baseUrl,
      ORI_DAEMON_URL: world.daemonUrl,
      ORI_SESSION_STORE: 'file',
    };
    const { stdout } = await alone(['call', INTERN_ID, '/api/invoke', '--data', '{}'], env);
    expect(JSON.parse(stdout)).toEqual({ user: 'acct_ada' });
  });

  it('comes with its checksum, its licences and its bill of materials', async () => {
    execFileSync('sha256sum', ['-c', `${file}.sha256`], { cwd: folder });
    const [sha256] = (await readFile(`${file}.sha256`, 'utf8')).split(' ');
    const bill = JSON.parse(await readFile(`${file}.cdx.json`, 'utf8'));
    expect(bill.metadata.component.hashes).toEqual([{ alg: 'SHA-256', content: sha256 }]);
    const names = bill.components.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['commander', 'openid-client', 'jose', 'zod']));
    const licences = await readFile(`${file}.licenses`, 'utf8');
    for (const name of names) expect(licences).toContain(`${name} `);
  });
});

describe.runIf(CAN_BUILD)('the executable of the guard', () => {
  it('lets a call with a proof through, once, and says that it has no tracing code', async () => {
    await using room = await openRoom('ori-guard-executable');
    await using world = await openGuardWorld();
    const program = await buildExecutable(room.directory, 'ori-guard');
    const port = await freePort();
    const environment = { ...world.environment, GUARD_PORT: String(port), GUARD_OPS_PORT: '0' };
    const guard = new ServerProcess({
      room,
      program,
      arguments: [],
      ready: /"msg":"listening"/,
      farewell: 'KILL',
      environment,
    });
    await guard.start();
    const send = async (bytes: string) => {
      using client = await rawClient(port);
      client.send(bytes);
      return (await client.answer()).status;
    };
    const signed = () => world.signed({ path: '/a', body: '{}', user: 'user_ada' });
    await expect.poll(() => send(signed()), { interval: 200 }).toBe(200);
    const once = signed();
    expect([await send(once), await send(once)]).toEqual([200, 401]);
    await guard.killFamily();
  });
});
