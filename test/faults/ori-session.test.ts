import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readSession } from '../../services/ori/src/adapters/session-store.ts';
import { runOri } from '../e2e/cli-in-process.ts';
import { makeOriHome, type OriHome, type OriResult } from '../e2e/cli-process.ts';
import { startScriptedIssuer } from '../e2e/cli-scripted-issuer.ts';
import { listen, send } from '../e2e/cli-world.ts';
import { clockOff } from '../e2e/wrong-clock.ts';

/** Set TEST_KILLS=200 TEST_ROUNDS=60 for a long run. */
const KILLS = Number(process.env['TEST_KILLS'] ?? 40);
const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 20);
const STORE = new URL('../../services/ori/src/adapters/session-store.ts', import.meta.url).href;

/** Stores one session after another, with consecutive numbers as tokens, and reports each. */
const WRITER = `
  const { writeSession } = await import(${JSON.stringify(STORE)});
  const [place, session, first] = JSON.parse(process.argv.at(-1));
  place.interrupted = new AbortController().signal;
  for (let n = first; ; n += 1) {
    const token = String(n).padStart(200_000, '0');
    await writeSession(place, { ...session, access_token: token });
    process.stdout.write(n + '\\n');
  }`;

it('finds a complete session, never older than the last stored one, after repeated kills while writing', {
  timeout: 600_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ori-kills-'));
  const place = {
    profile: 'default',
    file: join(folder, 'session.json'),
    lock: join(folder, 'lock'),
    keyFile: join(folder, 'key'),
  };
  const session = {
    version: 1,
    base_url: 'https://api.example.com/v1',
    resource: 'https://api.example.com/v1',
    issuer: 'https://issuer.example.com',
    client_id: 'ori-cli',
    subject: 'user',
    name: null,
    scope: '',
    expires_at: null,
    refresh_token: 'r',
    signed_in_at: 0,
    renewed_at: 0,
  };
  const { signal } = new AbortController();
  let stored = 0;
  for (let kills = 0; kills < KILLS; kills += 1) {
    const input = JSON.stringify([place, session, stored + 1]);
    const writer = spawn(process.execPath, ['--input-type=module', '-e', WRITER, input], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    writer.stdout.setEncoding('utf8').on('data', (text) => {
      said += text;
      // Kills after a few writes, each time at a different moment of the next write.
      if (said.split('\n').length > 2 + (kills % 5))
        setTimeout(() => writer.kill('SIGKILL'), (kills % 20) / 4);
    });
    await once(writer, 'close');
    const acknowledged = Number(said.trimEnd().split('\n').at(-1));
    const found = await readSession({ ...place, interrupted: signal });
    const number = Number(found?.access_token);
    expect(found?.access_token).toHaveLength(200_000);
    expect([acknowledged, acknowledged + 1]).toContain(number);
    stored = number;
  }
  await rm(folder, { recursive: true });
});

/** Forces the next command to renew the session. */
async function endToken(home: OriHome): Promise<void> {
  const session = JSON.parse(await readFile(home.sessionFile, 'utf8'));
  await writeFile(home.sessionFile, JSON.stringify({ ...session, expires_at: 1 }), { mode: 0o600 });
}

it('keeps a session while clock, network and issuer fail in turn', {
  timeout: 600_000,
}, async () => {
  await using issuer = await startScriptedIssuer();
  let metadata: Record<string, unknown> = {};
  const api = await listen((_req, res) => send(res, { status: 200, body: metadata }));
  const baseUrl = `${api.url}/v1`;
  metadata = { resource: baseUrl, authorization_servers: [issuer.url], scopes_supported: ['vault:read'] };
  await using home = await makeOriHome({ ORI_BASE_URL: baseUrl });
  const login = home.start(['login', '--no-browser']);
  const [, url = ''] = await login.told(/sign in:\n {2}(\S+)\n/);
  await fetch(issuer.redirectOf(url));
  expect(await login.result).toMatchObject({ exit: 0 });

  const whoami = () => runOri(home, ['whoami'], { ORI_BASE_URL: baseUrl });
  const whoamiAt = (seconds: number) => home.ori(['whoami'], { env: clockOff(seconds) });
  /** While the issuer answers otherwise. */
  const whoamiWith = (issuerHas: Partial<typeof issuer>) => {
    Object.assign(issuer, issuerHas);
    return whoami();
  };
  const faults: (() => Promise<OriResult>)[] = [
    () => whoamiAt(86_400),
    () => whoamiAt(-86_400),
    () => whoamiWith({ tokenAnswers: ['cut'] }),
    () => whoamiWith({ tokenAnswers: [{ status: 500, body: {} }] }),
    () => whoamiWith({ tokenAnswers: [{ status: 200, body: { refresh_token: newest() } }] }),
    () => whoamiWith({ idToken: { claims: { exp: 1_000_000_000 } } }),
    () => whoamiWith({ idToken: { foreignKey: true } }),
    () => whoamiWith({ tokenMembers: { ...issuer.tokenMembers, token_type: 'DPoP' } }),
    () => whoamiWith({ metadata: { token_endpoint: 'http://127.0.0.1:9/token' } }),
    () => whoamiWith({ metadata: { issuer: 'https://issuer.example.com' } }),
  ];
  let tokens = 0;
  const newest = () => {
    tokens += 1;
    return `refresh-${tokens}`;
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    await endToken(home);
    issuer.tokenMembers = { refresh_token: newest() };
    await faults[round % faults.length]?.();
    // The stored token, whichever it is, must renew the session.
    Object.assign(issuer, { idToken: {}, metadata: {}, tokenMembers: { refresh_token: newest() } });
    issuer.tokenAnswers.length = 0;
    await endToken(home);
    const kept = JSON.parse(await readFile(home.sessionFile, 'utf8')).refresh_token;
    expect(await whoami(), `round ${round}`).toMatchObject({ exit: 0 });
    expect(issuer.tokenRequests.at(-1)?.form.get('refresh_token')).toBe(kept);
    expect(JSON.parse(await readFile(home.sessionFile, 'utf8')).refresh_token).toBe(`refresh-${tokens}`);
  }
  await api.stop();
});
