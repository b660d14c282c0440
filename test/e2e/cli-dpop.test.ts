import { mkdir, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Secret } from '@ori/runtime/secret';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadStandaloneConfig } from '../../services/standalone/src/config.ts';
import { walkThrough } from '../../services/standalone/src/person.ts';
import { type Standalone, startStandalone } from '../../services/standalone/src/standalone.ts';
import { createDatabase } from '../env/postgres.ts';
import { runOri } from './cli-in-process.ts';
import { makeOriHome, type OriHome, type OriResult } from './cli-process.ts';
import { type CliWorld, startCliWorld } from './cli-world.ts';

const BODY = '{"prompt":"hello"}';
const database = await createDatabase({ migrated: false });
let state: OriHome;
let standalone: Standalone;
let world: CliWorld;
/** Of somebody who stays signed in. */
let home: OriHome;

beforeAll(async () => {
  state = await makeOriHome();
  standalone = await startStandalone(
    { ...loadStandaloneConfig({ ORI_PORT: '0' }), databaseUrl: new Secret(database.url) },
    state.folder,
  );
  world = await startCliWorld();
  home = await boundHome();
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await standalone.stop();
  await world[Symbol.asyncDispose]();
  await state[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const keyFileOf = (home: OriHome) => join(home.folder, '.local/share/ori/keys/default.json');
const keysOf = async (home: OriHome) => JSON.parse(await readFile(keyFileOf(home), 'utf8'));

/** Someone who signed in at the standalone, whose issuer and API both offer DPoP. */
async function boundHome(): Promise<OriHome> {
  const { baseUrl, daemonUrl } = standalone.state;
  const home = await makeOriHome({ ORI_BASE_URL: baseUrl, ORI_DAEMON_URL: daemonUrl });
  expect(await signIn(home)).toMatchObject({ exit: 0 });
  return home;
}

async function signIn(home: OriHome): Promise<OriResult> {
  const login = home.begin(['login', '--no-browser']);
  const [, url = ''] = await login.told(/sign in:\n {2}(\S+)\n/);
  await fetch(String(await walkThrough(new URL(url), { user: 'ada' })));
  return login.result;
}

function ori(home: OriHome, args: readonly string[], env: Record<string, string> = {}): Promise<OriResult> {
  const { baseUrl, daemonUrl } = standalone.state;
  return runOri(home, args, { ORI_BASE_URL: baseUrl, ORI_DAEMON_URL: daemonUrl, ...env });
}

const call = (home: OriHome, env?: Record<string, string>) =>
  ori(home, ['call', 'greeter', '/api/invoke', '--data', BODY, '--json'], env);

const ASKED = JSON.stringify({ bodySha256: 'a'.repeat(64), route: { method: 'POST', path: '/api/invoke' } });

/** A signing request as curl sends it. */
function ask(headers: Record<string, string>, body = ASKED): Promise<Response> {
  const { baseUrl, internId } = standalone.state;
  return fetch(`${baseUrl}/interns/${internId}/daemon/sign`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
}

it('binds the session to a key in a file of its own, apart from the tokens, and says so', async () => {
  expect((await stat(keyFileOf(home))).mode & 0o777).toBe(0o600);
  expect(await readFile(home.sessionFile, 'utf8')).not.toContain((await keysOf(home))[0].d);
  const whoami = /^ {2}bound +to a key on this computer, which signs each request \(DPoP\)$/m;
  expect((await ori(home, ['whoami'])).stdout).toMatch(whoami);
  expect(JSON.parse((await ori(home, ['whoami', '--json'])).stdout)).toMatchObject({ bound: true });
  expect(await call(home)).toMatchObject({ exit: 0 });
  const { access_token: stolen } = await home.session();
  expect((await ask({ authorization: `Bearer ${stolen}` })).status).toBe(401);
});

it('renews a bound session with the same key, and with no other', async () => {
  await using home = await boundHome();
  const before = await home.session();
  await home.changeSession({ expires_at: 1 });
  expect(await call(home)).toMatchObject({ exit: 0 });
  const after = await home.session();
  expect(after.access_token).not.toBe(before.access_token);
  expect(after.key_thumbprint).toBe(before.key_thumbprint);

  await using other = await boundHome();
  const { key_thumbprint } = await other.session();
  await other.changeSession({ ...after, expires_at: 1, key_thumbprint });
  expect(await call(other)).toMatchObject({ exit: 3 });
});

it.each([
  ['is missing', (home: OriHome) => rm(keyFileOf(home))],
  [
    'is another',
    async (home: OriHome) => {
      await using other = await boundHome();
      await writeFile(keyFileOf(home), JSON.stringify(await keysOf(other)), { mode: 0o600 });
    },
  ],
])('says to sign in here when the key of the session %s, and asks nobody', async (_how, change) => {
  await using home = await boundHome();
  await change(home);
  const called = await call(home);
  expect(called).toMatchObject({ exit: 3, stdout: '' });
  expect(JSON.parse(called.stderr)).toMatchObject({ error: { code: 'session_key_missing' } });
});

it('has the key of each session, also while a sign-in replaces it, and after one that could not', async () => {
  await using home = await boundHome();
  const obstacle = `${home.sessionFile}.tmp`;
  for (const _ of [1, 2]) {
    await mkdir(obstacle);
    expect(await signIn(home)).toMatchObject({ exit: 1, stdout: '' });
    await rmdir(obstacle);
    expect(await call(home)).toMatchObject({ exit: 0 });
  }
  const before = await readFile(home.sessionFile);
  expect(await signIn(home)).toMatchObject({ exit: 0 });
  expect(await call(home)).toMatchObject({ exit: 0 });
  await writeFile(home.sessionFile, before, { mode: 0o600 });
  expect(await call(home)).toMatchObject({ exit: 0 });
});

it('removes the key at sign-out', async () => {
  await using home = await boundHome();
  expect(await ori(home, ['logout'])).toMatchObject({ exit: 0 });
  await expect(stat(keyFileOf(home))).rejects.toMatchObject({ code: 'ENOENT' });
});

describe('ori headers', () => {
  const sign = () => `${standalone.state.baseUrl}/interns/${standalone.state.internId}/daemon/sign`;

  async function headers(home: OriHome, args: readonly string[], env?: Record<string, string>) {
    const { stdout } = await ori(home, ['headers', ...args], env);
    return Object.fromEntries(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(': ')),
    );
  }

  it('gives curl the proof for one request of the session, with the content of a file, good once', async () => {
    const file = join(home.folder, 'body.json');
    await writeFile(file, ASKED);
    const given = await headers(home, ['POST', sign(), '--file', file]);
    expect((await ask(given)).status).toBe(200);
    expect((await ask(given)).status).toBe(401);
  });

  it('gives a proof for no other content', async () => {
    const { baseUrl } = standalone.state;
    for (const given of [[], ['--data', `${ASKED} `]])
      expect((await ask(await headers(home, ['POST', sign(), ...given]))).status).toBe(401);
    const given = await headers(home, ['GET', `${baseUrl}/interns`]);
    expect((await fetch(`${baseUrl}/interns`, { headers: given })).status).toBe(200);
  });

  it('proves a token that was handed over with the key in a file', async () => {
    const { access_token: ORI_TOKEN } = await home.session();
    const ORI_DPOP_KEY = join(home.folder, 'key.json');
    await writeFile(ORI_DPOP_KEY, JSON.stringify((await keysOf(home))[0]), { mode: 0o600 });
    const env = { ORI_TOKEN, ORI_DPOP_KEY };
    await using elsewhere = await makeOriHome();
    expect((await ask(await headers(elsewhere, ['POST', sign(), '--data', ASKED], env))).status).toBe(200);
    expect(await call(elsewhere, env)).toMatchObject({ exit: 0 });
    const { stdout: who } = await ori(elsewhere, ['whoami', '--json'], env);
    expect(JSON.parse(who)).toMatchObject({ bound: true });
    const unproven = await call(elsewhere, { ORI_TOKEN });
    expect(JSON.parse(unproven.stderr)).toMatchObject({ error: { code: 'token_key_unusable' } });
    await writeFile(join(home.folder, 'key.pem'), '-----BEGIN PRIVATE KEY-----', { mode: 0o600 });
    const wrong = { kty: 'EC', crv: 'P-256', x: 'a', y: 'b', d: 'c' };
    await writeFile(join(home.folder, 'wrong.json'), JSON.stringify(wrong), { mode: 0o600 });
    for (const name of ['none', 'key.pem', '.', 'wrong.json']) {
      const unusable = await call(elsewhere, { ...env, ORI_DPOP_KEY: join(home.folder, name) });
      expect(unusable).toMatchObject({ exit: 2, stdout: '' });
      expect(JSON.parse(unusable.stderr)).toMatchObject({ error: { code: 'token_key_unusable' } });
    }
  });

  it('gives nothing for another server, nor with a bound token without its key', async () => {
    const elsewhere = await ori(home, ['headers', 'POST', 'https://elsewhere.example/v1']);
    expect(elsewhere).toMatchObject({ exit: 2, stdout: '' });
    const { access_token: ORI_TOKEN } = await home.session();
    expect(await ori(home, ['headers', 'POST', sign()], { ORI_TOKEN })).toMatchObject({ exit: 2 });
  });
});

describe('where a session is not bound', () => {
  const required = { dpop_bound_access_tokens_required: true };

  it('is what the person chose, and it says so, until the API demands binding', async () => {
    await using home = await world.newHome();
    const login = await world.signIn(home, { args: ['--unbound'] });
    expect(login.stderr).toContain('not bound to a key, as you chose');
    expect((await home.ori(['whoami'])).stdout).toMatch(/^ {2}bound +no:/m);
    const before = world.metadata;
    world.metadata = { ...before, ...required };
    const again = await world.signIn(home);
    world.metadata = before;
    expect(again).toMatchObject({ exit: 0, stderr: expect.stringContaining(', bound to a key') });
  });
});
