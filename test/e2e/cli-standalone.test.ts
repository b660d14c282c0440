import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadStandaloneConfig } from '../../services/standalone/src/config.ts';
import { walkThrough } from '../../services/standalone/src/person.ts';
import { type Standalone, startStandalone } from '../../services/standalone/src/standalone.ts';
import { freePort } from '../env/ports.ts';
import { makeOriHome, type OriHome, type OriResult, postWithHeaderFile } from './cli-process.ts';

let folder: string;
let standalone: Standalone;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ori-standalone-'));
  const env = {
    ORI_PORT: String(await freePort()),
    SIGNER_TURNS_PER_USER: '4',
    SIGNER_TURN_WINDOW_SECONDS: '3600',
  };
  standalone = await startStandalone(loadStandaloneConfig(env), folder);
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
  const login = home.start(['login', '--oidc', '--no-browser', ...args]);
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

  const headers = join(home.folder, 'headers');
  const signed = await home.ori(['sign', internId, '--path', '/api/invoke', '--data', '{}']);
  await writeFile(headers, signed.stdout);
  const body = join(home.folder, 'body');
  await writeFile(body, '{}');
  const post = () => postWithHeaderFile(headers, body, `${daemonUrl}/api/invoke`);
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

  const cached = async () => (await home.ori(['interns', 'list', '--cached'])).stdout;
  await home.ori(['interns', 'list']);
  expect(await cached()).toContain('difference\n');
  expect(await home.ori(['logout'])).toMatchObject({ exit: 0 });
  expect(await cached()).toBe('');
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

it('lists only the interns of the signed-in person', async () => {
  await using home = await newHome();
  const ids = async (user: string) => {
    await signIn(home, user);
    const { stdout } = await home.ori(['interns', 'list', '--json']);
    return JSON.parse(stdout).map(({ id }: { id: string }) => id);
  };
  expect(await ids('ada')).toContain(standalone.state.internId);
  expect(await ids('grace')).not.toContain(standalone.state.internId);
});

it('says when to try again after the turns are used up', async () => {
  await using home = await newHome();
  await signIn(home, 'ada');
  const sign = ['sign', standalone.state.internId, '--path', '/api/invoke', '--data', '{}', '--json'];
  let last: OriResult = { exit: 0, stdout: '', stderr: '' };
  for (let turn = 0; turn < 5 && last.exit === 0; turn += 1) last = await home.ori(sign);
  expect(last).toMatchObject({ exit: 5, stdout: '' });
  expect(JSON.parse(last.stderr)).toMatchObject({
    error: { code: 'rate_limited', next: expect.stringMatching(/^Try again in [1-9]\d* s\.$/) },
  });
});
