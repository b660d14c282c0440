import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadStandaloneConfig } from '../../services/standalone/src/config.ts';
import { walkThrough } from '../../services/standalone/src/person.ts';
import { type Standalone, startStandalone } from '../../services/standalone/src/standalone.ts';
import { makeOriHome, type OriHome, type OriResult } from './cli-process.ts';

let folder: string;
let standalone: Standalone;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ori-standalone-'));
  standalone = await startStandalone(loadStandaloneConfig({ ORI_PORT: '0' }), folder);
});
afterAll(async () => {
  await standalone.stop();
  await rm(folder, { recursive: true, force: true });
});

function newHome(): Promise<OriHome> {
  const { baseUrl, daemonUrl } = standalone.state;
  return makeOriHome({ ORI_BASE_URL: baseUrl, ORI_DAEMON_URL: daemonUrl });
}

async function signIn(home: OriHome, user: string, ...args: string[]): Promise<OriResult> {
  const login = home.begin(['login', '--oidc', '--no-browser', ...args]);
  const [, url = ''] = await login.told(/sign in:\n {2}(\S+)\n/);
  await fetch(String(await walkThrough(new URL(url), { user })));
  return login.result;
}

function subjectOf(user: string): string | undefined {
  return standalone.state.users.find(({ name }) => name === user)?.subject;
}

it('works end to end: ada signs in, calls her intern’s daemon, signs for curl, and signs out', async () => {
  await using home = await newHome();
  const { internId, daemonUrl } = standalone.state;
  const user = subjectOf('ada');
  expect(await signIn(home, 'ada')).toMatchObject({ exit: 0, stdout: `Signed in as ${user} (ada).\n` });
  expect((await home.ori(['whoami'])).stdout).toContain(`${user} (ada)`);

  // Right after its start the daemon may request a pause, which ori makes.
  const called = await home.ori(['call', internId, '/api/invoke', '--data', '{"prompt":"hello"}']);
  expect(called).toMatchObject({ exit: 0, stdout: JSON.stringify({ user }) });

  const signed = await home.ori(['sign', internId, '--path', '/api/invoke', '--data', '{}']);
  const lines = [...signed.stdout.trimEnd().split('\n'), 'content-type: application/json'];
  const headers = lines.map((line) => line.split(/: (.*)/, 2) as [string, string]);
  const post = async () =>
    (await fetch(`${daemonUrl}/api/invoke`, { method: 'POST', headers, body: '{}' })).text();
  expect(await post()).toBe(JSON.stringify({ user }));
  expect(await post()).toContain('nonce_replayed');

  // The sample daemon reports what arrived.
  const doctor = [
    'doctor',
    'call',
    internId,
    '/api/invoke',
    '--data',
    '{}',
    '--content-type',
    'text/plain',
    '--json',
  ];
  const { exit, stdout } = await home.ori(doctor);
  expect({ exit, ...JSON.parse(stdout) }).toMatchObject({
    exit: 7,
    verdict: 'unchanged',
    code: 'request_not_coverable',
  });

  expect(await home.ori(['logout'])).toMatchObject({ exit: 0 });
  expect(await home.ori(['call', internId, '/api/invoke', '--data', '{}'])).toMatchObject({
    exit: 3,
    stdout: '',
  });
});

it.each([
  ['grace', [], 'intern_not_found', 4],
  ['alan', [], 'intern_not_found', 4],
  ['mary', [], 'access_revoked', 4],
  ['ada', ['--scope', 'interns'], 'scope_missing', 4],
])('refuses %s, signed in with %j, with the reason', async (user, args, code, exit) => {
  await using home = await newHome();
  expect(await signIn(home, user, ...args)).toMatchObject({ exit: 0 });
  const sign = ['sign', standalone.state.internId, '--path', '/api/invoke', '--data', '{}', '--json'];
  const refused = await home.ori(sign);
  expect(refused).toMatchObject({ exit, stdout: '' });
  expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code, exit } });
});
