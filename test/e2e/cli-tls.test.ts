import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CliWorld, INTERN_ID, startCliWorld } from './cli-world.ts';

let folder: string;
let certificate: string;
let world: CliWorld;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ori-tls-'));
  const key = join(folder, 'key.pem');
  certificate = join(folder, 'cert.pem');
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const files = ['-keyout', key, '-out', certificate];
  await promisify(execFile)('openssl', ['req', '-x509', '-days', '2', ...curve, ...subject, ...files]);
  const tls = { key: await readFile(key, 'utf8'), cert: await readFile(certificate, 'utf8') };
  world = await startCliWorld({ tls });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

it('signs in, signs and calls over TLS', async () => {
  await using home = await world.newHome({ NODE_EXTRA_CA_CERTS: certificate });
  expect(await world.signIn(home)).toMatchObject({ exit: 0 });
  const called = await home.ori(['call', INTERN_ID, '/api/invoke', '--data', '{}']);
  expect(called).toEqual({ exit: 0, stdout: '{"user":"acct_ada"}', stderr: '' });
});

it('sends nothing to a server whose certificate it cannot trust', async () => {
  await using home = await world.newHome({ NODE_EXTRA_CA_CERTS: certificate });
  await world.signIn(home);
  world.requests.length = 0;
  const untrusting = { env: { NODE_EXTRA_CA_CERTS: '' } };
  const refused = await home.ori(['call', INTERN_ID, '/api/invoke', '--data', '{}'], untrusting);
  expect(refused).toMatchObject({ exit: 6, stdout: '' });
  expect(refused.stderr).toContain('certificate is self-signed');
  const elsewhere = world.daemonUrl.replace('localhost', '127.0.0.1');
  const misnamed = await home.ori(['call', INTERN_ID, '/api/invoke', '--data', '{}', '--daemon', elsewhere]);
  expect(misnamed).toMatchObject({ exit: 6, stdout: '' });
  expect(misnamed.stderr).toContain('certificate is for another host');
  expect(world.requests).toHaveLength(1);
});
