import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { CAN_BUILD } from '../../deploy/bundle/executable.ts';
import { freePort } from '../env/ports.ts';
import { listen } from './cli-world.ts';
import { canRunSteps, expectShown, makeBrowser, normalise, stepsOf, UPDATES } from './readme-session.ts';
import { freePortWithNeighbours } from './three-ports.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const README = new URL('../../README.md', import.meta.url);
const run = promisify(execFile);
let folder: string;
let clone: string;
let env: Record<string, string>;
let markdown: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ori-clone-'));
  clone = join(folder, 'checkout');
  const home = join(folder, 'home');
  await Promise.all([mkdir(clone), mkdir(home)]);
  markdown = await readFile(README, 'utf8');
  // `npm ci` would install the same packages again. They are linked; a file is copied where that is impossible.
  const copy = `git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$1"
    for modules in node_modules deploy/*/node_modules test/*/node_modules; do
      [ ! -d $modules ] || cp -al $modules "$1/$modules" || cp -a $modules "$1/$modules"
    done`;
  await run('bash', ['-c', copy, 'bash', clone], { cwd: ROOT });
  env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    NO_COLOR: '1',
    TERM: 'xterm',
    npm_config_cache: await npmCache(),
    npm_config_prefer_offline: 'true',
    npm_config_audit: 'false',
  };
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function npmCache(): Promise<string> {
  return (await run('npm', ['config', 'get', 'cache'], { cwd: ROOT })).stdout.trim();
}

/** The commands of a block, but for `npm ci`, which `beforeAll` stands for. */
function commandsOf(section: string, at: number): string {
  return `npm() { [ "$1" = ci ] || command npm "$@"; }\n${stepsOf(markdown, section)[at]?.commands}`;
}

it.runIf(canRunSteps && CAN_BUILD && !UPDATES)(
  'works as the README says, pasted to the last line in a new clone with an empty home',
  { timeout: 400_000 },
  async () => {
    await run('git', ['init', '--quiet'], { cwd: clone, env });
    const fewer =
      '-- libs/internal/store/src/queries/tenancy.test.ts libs/internal/turns/src/limiter.test.ts';
    const tested = `${commandsOf('Two commands', 2).trim()} ${fewer}`;
    expect((await run('bash', ['-euc', tested], { cwd: clone, env })).stdout).toMatch(/Tests .* passed/);
    await run('bash', ['-euc', commandsOf('Two commands', 1)], { cwd: clone, env });
    const alone = { cwd: '/', env: { HOME: folder } };
    const version = await run(join(clone, 'dist/bin/ori-linux-x64'), ['--version'], alone);
    expect(version.stdout).toBe('1.0.0\n');

    const firstPort = await freePortWithNeighbours();
    await using started = await start(firstPort);
    expect(started.printed).toBe(stepsOf(markdown, 'Two commands')[0]?.shown);

    const browser = await makeBrowser(folder);
    const person = {
      ...env,
      BROWSER: browser,
      ORI_SESSION_STORE: 'file',
      ORI_BASE_URL: `http://127.0.0.1:${firstPort}/v1`,
    };
    await expectShown(README, 'Call the daemon', { folder: clone, env: person, firstPort });

    const ori = join(clone, 'node_modules/.bin/ori');
    for (const startOne of [startDaemon, startGuard]) {
      await using daemon = await startOne(firstPort);
      const call = ['call', 'greeter', '/api/invoke', '--data', '{}', '--daemon', daemon.url];
      const { stdout } = await run(ori, call, { cwd: folder, env: person });
      expect(normalise(stdout, firstPort)).toBe('{"user":"ada-demo"}');
    }
  },
);

/** `npm start`, in another terminal. */
async function start(firstPort: number) {
  const command = commandsOf('Two commands', 0);
  const child = spawn('bash', ['-uc', command], {
    cwd: clone,
    env: { ...env, ORI_PORT: String(firstPort) },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const closed = once(child, 'close');
  let printed = '';
  for await (const line of createInterface(child.stdout)) {
    printed += `${line.replaceAll(clone, ROOT.replace(/\/$/, ''))}\n`;
    if (line.startsWith('ready: ')) break;
  }
  // What npm says before the program does.
  printed = printed.replace(/^(?:\n|> .*\n)*/, '');
  return {
    printed: normalise(printed, firstPort),
    async [Symbol.asyncDispose]() {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
      await closed;
    },
  };
}

/** The daemon in TypeScript, in a project of its own, for the intern of the standalone. */
async function startDaemon(firstPort: number) {
  const project = join(folder, 'daemon');
  await mkdir(project);
  await writeFile(join(project, 'package.json'), '{"private":true,"type":"module"}');
  const [, section = ''] = markdown.split('\n### TypeScript: the library\n');
  const [, install = ''] = /`(npm install express [^`]*)`/.exec(section) ?? [];
  const [, code = ''] = /```ts\n(.*?)```/s.exec(section) ?? [];
  await run('bash', ['-euc', install.replaceAll('…', join(clone, 'dist/packages'))], { cwd: project, env });
  const { internId } = JSON.parse(await readFile(join(clone, '.ori/standalone.json'), 'utf8'));
  const port = await freePort();
  const ours = code
    .replace('int_7Qm2', internId)
    .replace('https://api.example', `http://127.0.0.1:${firstPort}`)
    .replace(/listen\(\d+\)/, `listen(${port}, () => console.log('listening'))`);
  await writeFile(join(project, 'daemon.ts'), ours);
  const child = spawn(process.execPath, ['daemon.ts'], {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: async () => void child.kill() };
}

/** The guard, in front of a daemon that answers with the header that it gets. */
async function startGuard(firstPort: number) {
  const daemon = await listen((request, response) =>
    response.end(JSON.stringify({ user: request.headers['x-ori-verified-user'] })),
  );
  const { internId } = JSON.parse(await readFile(join(clone, '.ori/standalone.json'), 'utf8'));
  const [, section = ''] = markdown.split('\n### Any language: the guard\n');
  const [, code = ''] = /```sh\n(.*?)```/s.exec(section) ?? [];
  const ours = code
    .replace('int_7Qm2', internId)
    .replace('https://api.example', `http://127.0.0.1:${firstPort}`)
    .replace('127.0.0.1:8000', new URL(daemon.url).host)
    .replace(/^(?=dist)/m, 'exec ');
  const [port, opsPort] = [await freePort(), await freePort()];
  const ports = { GUARD_PORT: String(port), GUARD_OPS_PORT: String(opsPort) };
  const child = spawn('bash', ['-euc', ours], { cwd: clone, env: { ...env, ...ports }, stdio: 'ignore' });
  await vi.waitFor(
    async () => expect((await fetch(`http://127.0.0.1:${opsPort}/readyz`)).ok).toBe(true),
    15_000,
  );
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill();
      await daemon.stop();
    },
  };
}
