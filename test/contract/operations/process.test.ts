import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, rename } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { shipped } from '../../env/programs.ts';
import { rawClient } from '../../env/raw-client.ts';
import { startSignerWorld, useSignerWorld, V2_BODY } from '../signer-world.ts';
import { head } from '../signing-bytes.ts';

const main = await shipped('signer/ori-signer');
const world = await useSignerWorld();

const environment = {
  SIGNER_DATABASE_URL: 'postgres://signer:hidden@127.0.0.1:1/ori',
  SIGNER_REDIS_URL: 'redis://:hidden@127.0.0.1:1',
  SIGNER_ISSUER: 'http://127.0.0.1:1',
  SIGNER_AUDIENCE: 'https://api.ori.test/v1',
  SIGNER_KEK_FILE: '/nonexistent/kek.json',
  SIGNER_AUDIT_FILE: '/nonexistent/audit.jsonl',
  SIGNER_PORT: '0',
  SIGNER_OPS_PORT: '0',
};

/** Runs the hardened signer until it exits. */
async function run(args: string[], env: Record<string, string>) {
  const outcome = await promisify(execFile)(process.execPath, [main, ...args], {
    env: { PATH: process.env['PATH'], ...env },
  }).catch((error: { code: number; stdout: string; stderr: string }) => error);
  return { code: 'code' in outcome ? outcome.code : 0, stdout: outcome.stdout, stderr: outcome.stderr };
}

/** The address of a signer that was just started, from its log. */
async function listening(stdout: Readable): Promise<{ url: string; opsUrl: string }> {
  for await (const line of createInterface(stdout)) {
    if (line.includes('"msg":"listening"')) return JSON.parse(line) as { url: string; opsUrl: string };
  }
  throw new Error('the signer exited before it listened');
}

test('check-config reports every problem at once and exits with 2', async () => {
  const outcome = await run(['check-config'], { ...environment, SIGNER_PORT: 'x', SIGNER_PROT: '1' });
  expect(outcome).toMatchObject({ code: 2, stdout: '' });
  expect(outcome.stderr).toMatch(/SIGNER_PORT: .*got "x"/);
  expect(outcome.stderr).toMatch(/SIGNER_PROT: unknown name, did you mean SIGNER_PORT\?/);
  expect(outcome.stderr).not.toContain('hidden');
});

test('check-config reads the key-encryption keys too', async () => {
  const outcome = await run(['check-config'], environment);
  expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining('SIGNER_KEK_FILE: cannot read') });
});

test('check-config accepts a usable environment, and starts nothing', async () => {
  expect(await run(['check-config'], world.environment)).toMatchObject({ code: 0, stderr: '' });
});

test('an unknown command exits with 64, an audit file that cannot be opened with 1', async () => {
  expect(await run(['migrate'], environment)).toMatchObject({ code: 64 });
  const env = {
    ...world.environment,
    SIGNER_PORT: '0',
    SIGNER_OPS_PORT: '0',
    SIGNER_AUDIT_FILE: '/dev/null/x',
  };
  expect(await run([], env)).toMatchObject({ code: 1, stderr: expect.stringContaining('audit') });
});

test('SIGTERM completes requests in progress, accepts no more, and exits with 0', async () => {
  const env = { ...world.environment, SIGNER_PORT: '0', SIGNER_OPS_PORT: '0' };
  const child = spawn(process.execPath, [main], { env: { PATH: process.env['PATH'], ...env } });
  const exited = once(child, 'exit');
  const { url, opsUrl } = await listening(child.stdout);
  using connection = await rawClient(url);
  using idle = await rawClient(url);
  const path = `/v1/interns/${world.tenants.internId}/daemon/sign`;
  const token = await world.token();
  connection.send(
    head(
      path,
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      `Content-Length: ${V2_BODY.length}`,
      'Expect: 100-continue',
    ),
  );
  await connection.until(/100 Continue\r\n\r\n/);
  child.kill('SIGTERM');
  await idle.untilEnd();
  const { hostname, port } = new URL(url);
  const refused = createConnection({ host: hostname, port: Number(port) });
  const [error] = (await once(refused, 'error')) as [NodeJS.ErrnoException];
  expect(error.code).toBe('ECONNREFUSED');
  expect((await fetch(`${opsUrl}/readyz`)).status).toBe(503);
  connection.send(V2_BODY);
  const answer = await connection.untilEnd();
  expect(answer).toMatch(/HTTP\/1\.1 200 /);
  expect(answer).toMatch(/^connection: close/im);
  expect(await exited).toEqual([0, null]);
});

test('others cannot open a new file, and no core dump is written, whatever the caller allows', async () => {
  const env = { ...world.environment, SIGNER_PORT: '0', SIGNER_OPS_PORT: '0' };
  const allowing = 'umask 0; ulimit -S -c "$(ulimit -H -c)"; exec "$0" "$1"';
  const child = spawn('/bin/sh', ['-c', allowing, process.execPath, main], { env });
  const exited = once(child, 'exit');
  await listening(child.stdout);
  const about = (name: string) => readFile(`/proc/${child.pid}/${name}`, 'utf8');
  expect(await about('status')).toMatch(/^Umask:\s+0027$/m);
  if (existsSync('/usr/bin/prlimit')) expect(await about('limits')).toMatch(/^Max core file size +0 /m);
  child.kill('SIGTERM');
  await exited;
});

test('SIGHUP reopens the audit file after rotation', async () => {
  await using world = await startSignerWorld({ process: true });
  const path = world.environment['SIGNER_AUDIT_FILE'] ?? '';
  expect((await world.sign()).status).toBe(200);
  await rename(path, `${path}.1`);
  process.kill(world.signer.pid ?? 0, 'SIGHUP');
  const current = () => readFile(path, 'utf8').catch(() => 'missing');
  await expect.poll(current).toBe('');
  expect((await world.sign()).status).toBe(200);
  expect((await current()).trim().split('\n')).toHaveLength(1);
  expect((await readFile(`${path}.1`, 'utf8')).trim().split('\n')).toHaveLength(1);
});
