import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ORI } from './cli-process.ts';
import { INTERN_ID, listen, openSignedInWorld, send } from './cli-world.ts';
import { clockOff } from './wrong-clock.ts';

// What only a process shows: signals, pipes, memory, several at once, its clock, what it loads.

const MIB = 1024 * 1024;
const CALL = ['call', INTERN_ID, '/api/invoke', '--data', '{}'];
const SIGN = ['sign', INTERN_ID, '--path', '/api/invoke', '--data', '{}'];
const run = promisify(execFile);
const { world, home } = await openSignedInWorld();

it('runs by its name, and on an older Node by handing over to the pinned one', async () => {
  const { stdout } = await run(new URL('../../node_modules/.bin/ori', import.meta.url).pathname, [
    '--version',
  ]);
  expect(stdout).toBe('1.0.0\n');
  const old = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.19.0'}})`;
  const launcher = ORI;
  const handedOver = await run(process.execPath, ['--import', old, launcher, '--version']);
  expect(handedOver).toEqual({ stdout: '1.0.0\n', stderr: '' });
  await expect(run(process.execPath, ['--import', old, launcher, 'nonsense'])).rejects.toMatchObject({
    code: 2,
  });
});

it('says that it could not write', async () => {
  const command = `'${process.execPath}' '${ORI}' --help > /dev/full`;
  const failure = await run('sh', ['-c', command]).catch((error) => error);
  expect(failure).toMatchObject({ code: 1, stderr: 'ori: Cannot write to stdout: no space is left.\n' });
});

it('exits quietly when its reader closes the pipe', async () => {
  await using home = await world.newSignedIn();
  await using daemon = await listen((_req, res) => {
    res.writeHead(200);
    const more = () => {
      while (res.write('x'.repeat(64 * 1024)));
      res.once('drain', more);
    };
    more();
  });
  const calling = home.start(['call', INTERN_ID, '/', '--data', '', '--daemon', daemon.url]);
  calling.child.stdout?.once('data', () => calling.child.stdout?.destroy());
  expect(await calling.result).toMatchObject({ exit: 141, stderr: '' });
});

it('stops waiting for a daemon when interrupted', async () => {
  const called = Promise.withResolvers<void>();
  await using silent = await listen(() => called.resolve());
  const calling = home.start([...CALL, '--daemon', silent.url]);
  await called.promise;
  calling.child.kill('SIGTERM');
  expect(await calling.result).toMatchObject({ exit: 143, stdout: '' });
});

it('refreshes once if several commands find the token expired at the same time', async () => {
  await using home = await world.newSignedIn({ ORI_CLIENT_ID: 'ori-cli-opaque' });
  await home.changeSession({ expires_at: 1 });
  const before = await home.session();
  const results = await Promise.all(
    Array.from({ length: 4 }, () => home.start([...SIGN, '--verbose']).result),
  );
  expect(results.map(({ exit, stderr }) => [exit, exit === 0 ? '' : stderr])).toEqual(Array(4).fill([0, '']));
  expect(results.filter(({ stderr }) => stderr.includes('Refreshing the access token'))).toHaveLength(1);
  const after = await home.session();
  expect(after.refresh_token).not.toBe(before.refresh_token);
  expect(after.expires_at).toBeGreaterThan(Date.now() / 1000);
  // This issuer rotates refresh tokens and revokes the grant if a used one is presented.
  await home.changeSession({ expires_at: 1 });
  expect(await home.ori(SIGN)).toMatchObject({ exit: 0 });
});

it.each<[string, NodeJS.Signals[], number[]]>([
  // One Ctrl-C may arrive twice; the kernel merges two equal pending signals. Of two at once, either may be first.
  ['Ctrl-C', ['SIGINT', 'SIGTERM'], [130, 143]],
  ['a terminal that closes', ['SIGHUP'], [129]],
  ['Ctrl-\\', ['SIGQUIT'], [131]],
])('completes a refresh that %s interrupts, so that no rotated token is lost', async (_, signals, exits) => {
  await using home = await world.newSignedIn();
  await home.changeSession({ expires_at: 1 });
  const before = await home.session();
  const signing = home.start([...SIGN, '--verbose']);
  await signing.told(/Refreshing/);
  for (const signal of signals) signing.child.kill(signal);
  const { exit, stdout } = await signing.result;
  expect(exits).toContain(exit);
  expect(stdout).toBe('');
  expect((await home.session()).refresh_token).not.toBe(before.refresh_token);
  expect(await home.ori(SIGN)).toMatchObject({ exit: 0 });
});

it('exits without waiting for a stdin that it does not need', async () => {
  await using home = await world.newSignedIn();
  const who = home.start(['whoami'], { stdin: null });
  expect(await who.result).toMatchObject({ exit: 0 });
});

it('streams the response as it arrives', async () => {
  let finish = () => {};
  await using daemon = await listen((_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: first\n\n');
    finish = () => res.end('data: last\n\n');
  });
  const running = home.start(['call', INTERN_ID, '/', '--data', '', '--daemon', daemon.url]);
  const [first] = await once(createInterface(running.child.stdout as Readable), 'line');
  expect(first).toBe('data: first');
  finish();
  expect(await running.result).toMatchObject({ exit: 0, stdout: 'data: first\n\ndata: last\n\n' });
});

it.each(['file', 'stdin'])('streams a %s through less memory than it has bytes', async (source) => {
  const file = join(home.folder, 'large');
  await writeFile(file, '');
  await truncate(file, 200 * MIB);
  await appendFile(file, 'not only zeros');
  const digest = createHash('sha256');
  let pid = 0;
  let peakKib = 0;
  await using daemon = await listen(async (req, res) => {
    // A sender without backpressure would read everything into memory.
    await untilIdle(pid);
    for await (const chunk of req) digest.update(chunk);
    peakKib = Number(/VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]);
    send(res, { status: 200, body: digest.digest('hex') });
  });
  const args = ['call', INTERN_ID, '/', '--daemon', daemon.url];
  const running =
    source === 'file'
      ? home.start([...args, '--file', file])
      : home.start(args, { stdinFile: file, env: { TMPDIR: home.folder } });
  pid = running.child.pid ?? 0;
  const { exit, stdout } = await running.result;
  expect(exit).toBe(0);
  expect(JSON.parse(world.requests.at(-1)?.body ?? '').bodySha256).toBe(JSON.parse(stdout));
  expect(peakKib).toBeGreaterThan(0);
  expect(peakKib).toBeLessThan(192 * 1024);
});

/** Resolves when the process has stopped reading. */
async function untilIdle(pid: number): Promise<void> {
  const readSoFar = async () => /rchar: \d+/.exec(await readFile(`/proc/${pid}/io`, 'utf8'))?.[0];
  for (let before = ''; ; ) {
    const now = (await readSoFar()) ?? '';
    if (now === before) return;
    before = now;
    await pause(400);
  }
}

describe.each([
  ['1 day ahead', 86_400],
  ['1 day behind', -86_400],
])('with a clock that is %s', (words, seconds) => {
  it('signs in and renews the session, with the wrong clock and after it is corrected', async () => {
    await using home = await world.newHome();
    const login = await world.signIn(home, { env: clockOff(seconds) });
    expect(login).toMatchObject({ exit: 0 });
    expect(login.stderr).toContain(words);
    const { refresh_token: before } = await home.session();
    await home.changeSession({ expires_at: 1 });
    const called = await home.ori(CALL, { env: clockOff(seconds) });
    expect(called).toMatchObject({ exit: 0 });
    expect(called.stderr).toContain(words);
    expect((await home.session()).refresh_token).not.toBe(before);
    expect(await home.ori(CALL)).toMatchObject({ exit: 0 });
    expect(await home.ori(['whoami'])).toMatchObject({ exit: 0 });
  });
});

const CLI = new URL('../src/', `file://${ORI}`).href;

/** The packages that are loaded with some modules of the command. */
async function packagesWith(modules: readonly string[]): Promise<string[]> {
  const script = `
    const { registerHooks } = await import('node:module');
    const packages = new Set();
    registerHooks({
      load(url, context, next) {
        packages.add(/\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url)?.[1] ?? '');
        return next(url, context);
      },
    });
    for (const module of ${JSON.stringify(modules)}) await import(new URL(module, ${JSON.stringify(CLI)}).href);
    console.log(JSON.stringify([...packages].filter((name) => name !== '')));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script]);
  return JSON.parse(stdout) as string[];
}

it('a command loads the packages that it needs, and no other', async () => {
  expect(await packagesWith(['program.ts'])).toEqual(['commander']);
  expect(await packagesWith(['program.ts', 'commands/sign.ts'])).toEqual(['commander']);
  expect(await packagesWith(['core/refusal.ts'])).toEqual(['zod']);
});
