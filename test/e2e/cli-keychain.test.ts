import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { findProgram } from '../env/room.ts';
import type { OriHome } from './cli-process.ts';
import { INTERN_ID, useCliWorld } from './cli-world.ts';

const CALL = ['call', INTERN_ID, '/api/invoke', '--data', '{}'];
const world = await useCliWorld();

const missing = ['dbus-run-session', 'gnome-keyring-daemon'].filter(
  (name) => findProgram(name) === undefined,
);
if (missing.length > 0) process.stderr.write(`cli-keychain: skipped without ${missing.join(' and ')}\n`);

/** A Secret Service for this test, like that of a desktop session. */
async function startKeychain(home: OriHome): Promise<{ env: Record<string, string> } & AsyncDisposable> {
  const script =
    'printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null && echo "$DBUS_SESSION_BUS_ADDRESS" && exec cat';
  const { PATH = '' } = process.env;
  const child = spawn('dbus-run-session', ['--', 'sh', '-c', script], {
    env: { PATH, HOME: home.folder, XDG_RUNTIME_DIR: home.folder },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const exit = once(child, 'close').then(([status]) =>
    Promise.reject(new Error(`no keychain: exit ${status}`)),
  );
  exit.catch(() => {});
  const [address] = await Promise.race([once(createInterface(child.stdout), 'line'), exit]);
  const env = { DBUS_SESSION_BUS_ADDRESS: address, ORI_SESSION_STORE: '' };
  return {
    env,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'close');
      child.stdin.end();
      await ended;
    },
  };
}

const CHANGE = `
const { AsyncEntry } = await import('@napi-rs/keyring');
const [account, changes] = process.argv.slice(1);
const entry = new AsyncEntry('ori', account, { linux: { store: 'secret-service' } });
const before = (await entry.getPassword()) ?? 'null';
await entry.setPassword(JSON.stringify({ ...JSON.parse(before), ...JSON.parse(changes) }));
process.stdout.write(before);`;

/** Changes members of the session in the keychain, and returns what it was; null if it has none. */
async function changeKept(home: OriHome, keychain: Record<string, string>, changes: object) {
  const script = ['--input-type=module', '--eval', CHANGE, '--', home.sessionFile, JSON.stringify(changes)];
  const cwd = join(import.meta.dirname, '../../services/ori');
  const env = { ...process.env, ...keychain };
  const { stdout } = await promisify(execFile)(process.execPath, script, { cwd, env });
  return JSON.parse(stdout);
}

/** The environment of an `ori` whose keychain behaves otherwise. */
async function withKeychain(home: OriHome, behaviour: string): Promise<Record<string, string>> {
  const file = join(home.folder, 'preload.mjs');
  const packageFile = JSON.stringify(join(import.meta.dirname, '../../services/ori/package.json'));
  await writeFile(
    file,
    `import { createRequire } from 'node:module';
     const { prototype } = createRequire(${packageFile})('@napi-rs/keyring').AsyncEntry;
     ${behaviour}`,
  );
  return { NODE_OPTIONS: `--import ${file}` };
}

describe.skipIf(missing.length > 0)('with a system keychain', () => {
  it('keeps the key of a bound session there too, apart from the tokens, and removes it at sign-out', async () => {
    await using home = await world.newHome();
    await using keychain = await startKeychain(home);
    const { env } = keychain;
    expect(await world.signIn(home, { env })).toMatchObject({ exit: 0 });
    const keyFile = join(home.folder, '.local/share/ori/keys/default.json');
    expect(await readFile(keyFile, 'utf8')).toBe('{"version":1,"kept_in":"keychain"}\n');
    expect(await home.ori(CALL, { env })).toMatchObject({ exit: 0 });
    expect(world.requests.findLast(({ method }) => method === 'POST')?.headers).toMatchObject({
      dpop: expect.stringMatching(/^ey/),
    });
    const pointer = await readFile(home.sessionFile);
    expect(await home.ori(['logout'], { env })).toMatchObject({ exit: 0 });
    await writeFile(home.sessionFile, pointer, { mode: 0o600 });
    expect(await home.ori(CALL, { env })).toMatchObject({ exit: 3, stdout: '' });
  });

  it('keeps tokens there, renews them there, and leaves nothing behind at sign-out', async () => {
    await using home = await world.newHome();
    await using keychain = await startKeychain(home);
    const { env } = keychain;
    expect(await world.signIn(home, { env })).toMatchObject({ exit: 0 });
    expect(await readFile(home.sessionFile, 'utf8')).toBe('{"version":1,"kept_in":"keychain"}\n');
    expect(await home.ori(CALL, { env })).toMatchObject({ exit: 0, stdout: '{"user":"acct_ada"}' });
    const listed = await home.ori(['profiles', '--json'], { env });
    expect(JSON.parse(listed.stdout)).toMatchObject([{ kept_in: 'keychain', subject: 'acct_ada' }]);

    const before = await changeKept(home, env, { expires_at: 1 });
    expect(await home.ori(CALL, { env })).toMatchObject({ exit: 0 });
    const after = await changeKept(home, env, {});
    expect(after['refresh_token']).not.toBe(before['refresh_token']);
    expect(await readFile(home.sessionFile, 'utf8')).not.toContain('token');

    const pointer = await readFile(home.sessionFile);
    expect(await home.ori(['logout'], { env })).toMatchObject({ exit: 0 });
    await writeFile(home.sessionFile, pointer, { mode: 0o600 });
    expect(await home.ori(['whoami'], { env })).toMatchObject({ exit: 3, stdout: '' });
  });

  it('leaves no session in the keychain that no file points to', async () => {
    await using home = await world.newHome();
    await using keychain = await startKeychain(home);
    const { env } = keychain;
    // A folder, which no file can replace.
    await mkdir(home.sessionFile, { recursive: true });
    expect(await world.signIn(home, { env })).toMatchObject({ exit: 1, stdout: '' });
    expect(await changeKept(home, env, {})).toBeNull();
  });

  it('leaves no session in the keychain that has grown too long for it', async () => {
    await using home = await world.newHome();
    await using keychain = await startKeychain(home);
    const { env } = keychain;
    await world.signIn(home, { env });
    await changeKept(home, env, { expires_at: 1 });
    // As Windows does with more than 1280 characters.
    const tooLong = "prototype.setPassword = () => Promise.reject(new Error('too long'));";
    const limited = await withKeychain(home, tooLong);
    const call = await home.ori(CALL, { env: { ...env, ...limited } });
    expect(call).toMatchObject({ exit: 0, stderr: expect.stringContaining('stored in a file') });
    expect(await home.ori(CALL, { env })).toMatchObject({ exit: 0 });
    expect(await changeKept(home, env, {})).toBeNull();
  });

  it('does not wait for somebody who never unlocks the keychain', async () => {
    await using home = await world.newHome();
    await using keychain = await startKeychain(home);
    await world.signIn(home, { env: keychain.env });
    // Thirty seconds pass at once, and the call goes on in its thread, as one that waits for a prompt does.
    const waiting = await withKeychain(
      home,
      `const { setTimeout: wait } = globalThis;
       globalThis.setTimeout = (work, ms, ...more) => wait(work, ms === 30_000 ? 0 : ms, ...more);
       prototype.getPassword = () => new Promise(() => setInterval(() => {}, 1000));`,
    );
    const who = await home.ori(['whoami', '--json'], { env: { ...keychain.env, ...waiting } });
    expect(who).toMatchObject({ exit: 3, stderr: expect.stringContaining('did not answer within 30 s') });
  });

  it('is not asked for a session to complete the name of a profile', async () => {
    await using home = await world.newHome();
    await using keychain = await startKeychain(home);
    await world.signIn(home, { env: keychain.env });
    const watched = await withKeychain(
      home,
      `prototype.getPassword = () => { process.stderr.write('asked'); return Promise.reject(new Error('locked')); };`,
    );
    const completed = await home.ori(['completion', 'bash', '--', '--profile', ''], {
      env: { ...keychain.env, ...watched },
    });
    expect(completed).toEqual({ exit: 0, stdout: 'default\n', stderr: '' });
  });

  it('reports that the keychain is gone, and stores a new sign-in in a file', async () => {
    await using home = await world.newHome();
    {
      await using keychain = await startKeychain(home);
      await world.signIn(home, { env: keychain.env });
    }
    const env = { DBUS_SESSION_BUS_ADDRESS: `unix:path=${home.folder}/none`, ORI_SESSION_STORE: '' };
    const gone = await home.ori([...CALL, '--json'], { env });
    expect(gone).toMatchObject({ exit: 3, stdout: '' });
    expect(JSON.parse(gone.stderr)).toMatchObject({ error: { code: 'keychain_unusable' } });
    const login = await world.signIn(home, { env });
    expect(login).toMatchObject({ exit: 0 });
    expect(login.stderr).toContain('stored in a file');
    expect(await home.ori(CALL, { env })).toMatchObject({ exit: 0 });
  });
});

it('announces the file if there is no keychain, and refuses it if the keychain is required', async () => {
  await using home = await world.newHome();
  const env = { DBUS_SESSION_BUS_ADDRESS: `unix:path=${home.folder}/none` };
  const login = await world.signIn(home, { env: { ...env, ORI_SESSION_STORE: '' } });
  expect(login).toMatchObject({ exit: 0 });
  expect(login.stderr).toContain('stored in a file');
  expect((await home.ori(['logout'])).exit).toBe(0);
  const demanded = await world.signIn(home, { env: { ...env, ORI_SESSION_STORE: 'keychain' } });
  expect(demanded).toMatchObject({ exit: 3, stdout: '' });
  await expect(readFile(home.sessionFile)).rejects.toMatchObject({ code: 'ENOENT' });
});
