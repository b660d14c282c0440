import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { openRoom } from '../env/room.ts';
import { hostAsProcess, type SignerHost } from '../env/signer-host.ts';
import { startWorld } from '../env/world.ts';
import { PROBE, probedFlags, signAt } from './signer-process.ts';

const DENIED = 'ERR_ACCESS_DENIED';

/** The probe's attempts, and the error of each. */
const ATTEMPTS = {
  'read a file': DENIED,
  'read the environment as a file': DENIED,
  'read the audit file': DENIED,
  'write a file': DENIED,
  'write a file beside the audit file': DENIED,
  'link to a file': DENIED,
  'open a SQLite database': 'ERR_UNKNOWN_BUILTIN_MODULE',
  'write a heap snapshot': DENIED,
  'run a program': DENIED,
  'start a thread': DENIED,
  'load an addon': 'ERR_DLOPEN_DISABLED',
  'run WASI': DENIED,
  'open the inspector': DENIED,
  'reach an internal binding': DENIED,
  'evaluate a string': 'EvalError',
  'make a function after changing the flags of V8': 'EvalError',
  'reach a prototype by __proto__': 'TypeError',
} as const;

/** The results without any denial. The addon does not exist, so loading it still fails. */
const ALLOWED = Object.fromEntries(
  Object.keys(ATTEMPTS).map((name) => [name, name === 'load an addon' ? 'ERR_DLOPEN_FAILED' : 'allowed']),
);

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());
const room = stack.use(await openRoom('ori-hardening'));
const world = stack.use(await startWorld());

let folders = 0;

/** The environment of a signer with its own audit file, and a folder that it must not access. */
async function place(): Promise<Record<string, string>> {
  folders += 1;
  const outside = join(room.directory, `outside-${folders}`);
  const own = join(room.directory, `own-${folders}`);
  await Promise.all([mkdir(outside), mkdir(own)]);
  await writeFile(join(outside, 'secret'), '0');
  return {
    ...world.environment,
    SIGNER_PORT: '0',
    SIGNER_OPS_PORT: '0',
    SIGNER_AUDIT_FILE: join(own, 'audit.jsonl'),
    SIGNER_AUDIT_SYNC: 'disk',
    PROBE_OUTSIDE: outside,
  };
}

function outcomesIn(lines: readonly string[]): Record<string, string> {
  const line = lines.find((text) => text.startsWith('{"probe":')) ?? '{"probe":{}}';
  return (JSON.parse(line) as { probe: Record<string, string> }).probe;
}

/** The probe without the signer, so that it always completes. */
async function probeUnder(flags: readonly string[], env: Record<string, string>) {
  await writeFile(env['SIGNER_AUDIT_FILE'] ?? '', '');
  const args = [...flags, '--eval', '0'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, cwd: env['PROBE_OUTSIDE'] });
  return outcomesIn(stdout.split('\n'));
}

test('code inside the signer is denied everything that the signer does not need, and the signer signs', async () => {
  const env = await place();
  await using signer = await hostAsProcess(
    { ...env, SIGNER_REQUIRE_HARDENED: 'true' },
    room,
    await probedFlags(env),
  );
  expect(outcomesIn(signer.output)).toEqual(ATTEMPTS);
  const sign = () => signAt(signer.url, world);
  await expect.poll(sign).toBe(200);

  const audit = env['SIGNER_AUDIT_FILE'] ?? '';
  const linesOf = async (path: string) =>
    (await readFile(path, 'utf8').catch(() => 'missing')).split('\n').slice(0, -1).length;
  await rename(audit, `${audit}.1`);
  process.kill(signer.pid ?? Number.NaN, 'SIGHUP');
  await expect.poll(() => readFile(audit, 'utf8').catch(() => 'missing')).toBe('');
  await expect.poll(sign).toBe(200);
  expect([await linesOf(`${audit}.1`), await linesOf(audit)]).toEqual([1, 1]);
});

test('without the flags everything is allowed', async () => {
  expect(await probeUnder(['--import', PROBE], await place())).toEqual(ALLOWED);
});

test.each([
  [
    '--permission',
    Object.keys(ATTEMPTS).filter((name) => /^ERR_(ACCESS|DLOPEN)/.test(ATTEMPTS[name as 'read a file'])),
  ],
  ['--no-experimental-sqlite', ['open a SQLite database']],
  [
    '--disallow-code-generation-from-strings',
    ['evaluate a string', 'make a function after changing the flags of V8'],
  ],
  ['--disable-proto=delete', ['reach a prototype by __proto__']],
])('without %s, what it denies is allowed', async (flag, attempts) => {
  const env = await place();
  const flags = await probedFlags(env);
  expect(flags).toContain(flag);
  const rest = flags.filter(
    (word) => word !== flag && !(flag === '--permission' && word.startsWith('--allow')),
  );
  const outcomes = await probeUnder(rest, env);
  expect(outcomes).toEqual({
    ...ATTEMPTS,
    ...Object.fromEntries(attempts.map((name) => [name, ALLOWED[name]])),
  });
});

test('only the signer’s group can read its audit file, as the signing log does', async () => {
  const env = await place();
  await using _signer = await hostAsProcess(env, room);
  expect((await stat(env['SIGNER_AUDIT_FILE'] ?? '')).mode & 0o777).toBe(0o640 & ~process.umask());
});

test('SIGUSR1 opens no inspector', async () => {
  const SIGUSR1 = 1n << 9n;
  const isHandled = async ({ pid }: SignerHost) => {
    const [, caught, blocked] = await Promise.all(
      [/^SigIgn:\s*(\w+)/m, /^SigCgt:\s*(\w+)/m, /^SigBlk:\s*(\w+)/m].map(async (mask) =>
        BigInt(`0x${mask.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0'}`),
      ),
    );
    return ((caught ?? 0n) & SIGUSR1) !== 0n && ((blocked ?? 0n) & SIGUSR1) === 0n;
  };
  const env = await place();
  await using hardened = await hostAsProcess(env, room);
  expect(await isHandled(hardened)).toBe(false);
  process.kill(hardened.pid ?? Number.NaN, 'SIGUSR1');
  expect((await fetch(`${hardened.opsUrl}/livez`)).status).toBe(200);
  await using usual = await hostAsProcess(env, room, []);
  expect(await isHandled(usual)).toBe(true);
});
