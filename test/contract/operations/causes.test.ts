import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'vitest';
import { freePort } from '../../env/ports.ts';
import { shipped } from '../../env/programs.ts';
import { useSignerWorld } from '../signer-world.ts';

const MAIN = await shipped('signer/ori-signer');

const world = await useSignerWorld();

/** What is wrong, and where: the environment of a signer that has it. */
type Wrong = () => Promise<Record<string, string>>;

const changed = (name: 'SIGNER_DATABASE_URL' | 'SIGNER_REDIS_URL', change: (url: URL) => void): Wrong => {
  return async () => {
    const url = new URL(world.environment[name] ?? '');
    change(url);
    return { [name]: url.href };
  };
};

test.concurrent.for<[string, string, Wrong, RegExp]>([
  ['a slash too many', 'issuer', async () => ({ SIGNER_ISSUER: `${world.issuer.url}/` }), /issuer/],
  [
    'a missing database',
    'postgresql',
    changed('SIGNER_DATABASE_URL', (url) => {
      url.pathname = '/nowhere';
    }),
    /no such database/,
  ],
  [
    'a wrong password',
    'redis',
    changed('SIGNER_REDIS_URL', (url) => {
      url.username = 'nobody';
      url.password = 'hidden';
    }),
    /password/,
  ],
])('%s of %s is told in the log and in /readyz', async ([, dependency, wrong, cause], { signal, expect }) => {
  await using stack = new AsyncDisposableStack();
  const opsPort = await freePort();
  const env = {
    ...world.environment,
    ...(await wrong()),
    PATH: process.env['PATH'],
    SIGNER_TRUST_GATEWAY: 'true',
    SIGNER_PORT: String(await freePort()),
    SIGNER_OPS_PORT: String(opsPort),
  };
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'inherit'], signal });
  child.on('error', () => {});
  stack.defer(() => end(child));
  const line = await lineThat(
    child,
    // Until the others have been reached, they are named too.
    ({ failing, causes }) =>
      Object.keys(failing).join() === dependency && cause.test(causes[dependency] ?? ''),
  );
  expect((await fetch(`http://127.0.0.1:${opsPort}/livez`)).status).toBe(200);
  const ready = await fetch(`http://127.0.0.1:${opsPort}/readyz`);
  const said = (await ready.json()) as { causes: Record<string, string> };
  expect([ready.status, said.causes[dependency]]).toEqual([503, expect.stringMatching(cause)]);
  expect(JSON.stringify([line, said])).not.toContain('hidden');
});

interface Waiting {
  readonly failing: Record<string, string>;
  readonly causes: Record<string, string>;
}

/** The first such line that says what the signer waits for, and why. */
async function lineThat({ stdout }: ChildProcess, tells: (line: Waiting) => boolean): Promise<Waiting> {
  if (stdout === null) throw new Error('expected the output of the signer');
  const heard: string[] = [];
  for await (const text of createInterface(stdout)) {
    heard.push(text);
    const { msg, failing = {}, causes = {} } = JSON.parse(text) as Partial<Waiting> & { msg: string };
    if (msg.startsWith('not listening yet') && tells({ failing, causes })) return { failing, causes };
  }
  throw new Error(`the signer ended: ${heard.join('\n')}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
