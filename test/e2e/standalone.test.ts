import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type {
  CallAnswer,
  ChangedAnswer,
  ProofAnswer,
} from '../../services/standalone/src/start-page/play.ts';
import {
  canRunSteps,
  expectShown,
  makeBrowser,
  normalise,
  stepsOf,
  UPDATES,
  update,
} from './readme-session.ts';
import { makeStandaloneHome, type RunningStandalone, type StandaloneHome } from './standalone-process.ts';
import { freePortWithNeighbours, isOpen } from './three-ports.ts';

// Some tests start a standalone.
vi.setConfig({ testTimeout: 60_000 });

const ROOT = new URL('../..', import.meta.url);
const README = new URL('README.md', ROOT);
const BY_HAND = new URL('services/standalone/README.md', ROOT);
const BODY = '{"prompt":"hello"}';

let home: StandaloneHome;
let standalone: RunningStandalone;
let firstPort: number;

beforeAll(async () => {
  home = await makeStandaloneHome();
  for (const name of ['package.json', 'node_modules'])
    await symlink(new URL(name, ROOT), join(home.folder, name));
  firstPort = await freePortWithNeighbours();
  standalone = await home.start({ ORI_PORT: String(firstPort) });
});
afterAll(async () => {
  await standalone?.stop();
  await home?.[Symbol.asyncDispose]();
});

async function tokenOf(user: string, ...more: string[]): Promise<string> {
  const { exit, stdout, stderr } = await home.token('--user', user, ...more);
  expect(stderr).toBe('');
  expect(exit).toBe(0);
  expect(stdout).toMatch(/^\S+\n$/);
  return stdout.trim();
}

async function sign(bearer: string, path = '/api/invoke', internId = standalone.state.internId) {
  const bodySha256 = createHash('sha256').update(BODY).digest('hex');
  const response = await fetch(`${standalone.state.baseUrl}/interns/${internId}/daemon/sign`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify({ bodySha256, route: { method: 'POST', path } }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

async function invoke(proof: Record<string, string>, path = '/api/invoke') {
  const headers = { ...proof, 'content-type': 'application/json' };
  const response = await fetch(standalone.state.daemonUrl + path, { method: 'POST', headers, body: BODY });
  return { status: response.status, text: await response.text() };
}

function subjectOf(name: string): string {
  return standalone.state.users.find((user) => user.name === name)?.subject ?? '';
}

describe('the READMEs', () => {
  it('prints at npm start what the README shows, within 80 columns', async () => {
    const markdown = await readFile(README, 'utf8');
    const steps = stepsOf(markdown, 'Two commands').filter(({ shown }) => shown !== undefined);
    const printed = normalise(`${standalone.lines.join('\n')}\n`, firstPort);
    // The folder of the checkout may be as long as it likes.
    const long = standalone.lines.filter((line) => line.length > 80 && !line.includes('export PATH='));
    expect(long).toEqual([]);
    if (UPDATES) return update(README, 'Two commands', [printed]);
    expect([printed]).toEqual(steps.map(({ shown }) => shown));
  });

  it.runIf(canRunSteps)(
    'prints what the READMEs show for each command, word for word',
    { timeout: 120_000 },
    async () => {
      const env = {
        PATH: process.env['PATH'],
        HOME: home.folder,
        BROWSER: await makeBrowser(home.folder),
        ORI_BASE_URL: standalone.state.baseUrl,
        ORI_SESSION_STORE: 'file',
      };
      await expectShown(README, 'Call the daemon', { folder: home.folder, env, firstPort });
      const PATH = `${join(home.folder, 'node_modules/.bin')}:${env.PATH}`;
      const further = { folder: home.folder, cwd: home.folder, env: { ...env, PATH }, firstPort };
      const sample = await promisify(execFile)(
        'bash',
        ['-euc', await sampleOf('signDaemonRequest')],
        further,
      );
      expect(JSON.parse(sample.stdout)).toMatchObject({ 'x-ori-invoke-user': 'ada-demo' });
      await expectShown(BY_HAND, 'The call by hand', further);
    },
  );
});

/** The first sample of an operation in the reference. */
async function sampleOf(operationId: string): Promise<string> {
  const page = await (await fetch(`${standalone.state.baseUrl}/docs`)).text();
  const [, sample = ''] = new RegExp(`id="${operationId}".*?<pre><code>(.*?)</code>`, 's').exec(page) ?? [];
  return sample.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));
}

describe('npm start', () => {
  it('makes one call end to end, shows that a replay is refused, then reports that it is ready', () => {
    const { lines, state } = standalone;
    expect(lines.join('\n')).toContain(`200 {"user":"${subjectOf('ada')}"}`);
    expect(lines.join('\n')).toContain('401 nonce_replayed');
    expect(lines.at(-1)).toBe(`ready: ${state.baseUrl}`);
    expect(state.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  });

  it('writes exactly the members that others depend on, readable only by its owner', () => {
    expect((statSync(home.stateFile).mode & 0o777).toString(8)).toBe('600');
    expect((statSync(join(home.folder, '.ori')).mode & 0o777).toString(8)).toBe('700');
    const { state } = standalone;
    const hash = createHash('sha256').update(state.apiKey).digest('hex');
    const url = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+/);
    const key = expect.stringMatching(/^sk-ori-v1-[0-9a-f]{64}$/);
    expect(state).toEqual({
      baseUrl: url,
      issuer: url,
      daemonUrl: url,
      jwksUrl: `${state.baseUrl}/interns/${state.internId}/daemon/jwks.json`,
      root: { kty: 'OKP', crv: 'Ed25519', x: expect.stringMatching(/^[\w-]{43}$/) },
      metrics: { signer: url, management: url },
      internId: 'int_greeter',
      otherInternId: expect.any(String),
      workspaceId: expect.any(String),
      users: ['ada', 'grace', 'alan', 'mary'].map((name) => {
        return { name, subject: `${name}-demo`, userId: expect.any(String) };
      }),
      apiKey: key,
      apiKeyHash: hash,
      internApiKey: key,
      managementKey: key,
      byokId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  it('serves keys, interns, provider credentials and guardrails at the same address', async () => {
    const { baseUrl, internId, apiKey, managementKey, byokId, metrics } = standalone.state;
    const ask = async (path: string, key: string, init: RequestInit = {}) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const response = await fetch(`${baseUrl}${path}`, { ...init, headers });
      return { status: response.status, text: await response.text() };
    };
    const interns = await ask('/interns?status=running', apiKey);
    expect(interns.status).toBe(200);
    expect(interns.text).toContain(internId);
    expect(await (await fetch(standalone.state.jwksUrl)).json()).toMatchObject({ keys: [{ kty: 'OKP' }] });
    const renamed = await ask(`/byok/${byokId}`, managementKey, {
      method: 'PATCH',
      body: '{"name":"renamed"}',
    });
    expect(renamed.status).toBe(200);
    const created = await ask('/guardrails', managementKey, { method: 'POST', body: '{"name":"policy"}' });
    expect(created.status).toBe(201);
    const page = await (await fetch(metrics.management)).text();
    expect(page).toMatch(/service="management".*route="\/v1\/guardrails"|route="\/v1\/guardrails"/);
    expect(await (await fetch(metrics.signer)).text()).not.toContain('guardrails');
  });

  it('keeps tokens, keys and secrets out of the log and the audit file', async () => {
    const token = await tokenOf('ada');
    await sign(token);
    const written = ['signer.log', 'audit.log']
      .map((name) => readFileSync(join(home.folder, '.ori', name), 'utf8'))
      .join('');
    expect(written).toContain(subjectOf('ada'));
    expect(written).not.toContain(token);
    expect(written).not.toContain(standalone.state.apiKey);
    expect((statSync(join(home.folder, '.ori', 'signer.log')).mode & 0o777).toString(8)).toBe('600');
  });
});

describe('the demo keys', () => {
  it('name no person: API keys are refused at the sign route, and the management key is unknown there', async () => {
    const { apiKey, internApiKey, managementKey } = standalone.state;
    const personal = { status: 403, body: { error: { metadata: { reason: 'personal_identity_required' } } } };
    expect(await sign(apiKey)).toMatchObject(personal);
    expect(await sign(internApiKey)).toMatchObject(personal);
    expect(await sign(managementKey)).toMatchObject({ status: 401 });
  });
});

describe('npm run token', () => {
  it('prints a JWT, with --opaque an opaque token, and one of the given scopes', async () => {
    expect((await tokenOf('ada')).split('.')).toHaveLength(3);
    const opaque = await tokenOf('ada', '--opaque');
    expect(opaque).not.toContain('.');
    expect((await sign(opaque)).status).toBe(200);
    expect((await sign(await tokenOf('ada', '--scope', 'interns'))).status).toBe(403);
  });

  it('lists the members on stderr if the name is unknown, and prints nothing else', async () => {
    for (const args of [
      ['--user', 'linus'],
      ['--user', 'ada', '--colour'],
    ]) {
      const { exit, stdout, stderr } = await home.token(...args);
      expect(exit).toBe(1);
      expect(stdout).toBe('');
      expect(stderr).toMatch(/expected one of ada, grace, alan, mary|Unknown option/);
    }
  });

  it('explains how to start a standalone if none runs', async () => {
    await using elsewhere = await makeStandaloneHome();
    const { exit, stdout, stderr } = await elsewhere.token('--user', 'ada');
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toContain('npm start');
  });
});

describe('the sample daemon', () => {
  it('answers only its one path', async () => {
    const { body } = await sign(await tokenOf('ada'), '/api/other');
    expect((await invoke(body, '/api/other')).status).toBe(404);
  });
});

describe('the base address', () => {
  it('is a page at /, and at the API’s address a page in a browser and JSON for clients', async () => {
    const { baseUrl } = standalone.state;
    const root = new URL('/', baseUrl);
    const browser = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' };
    for (const page of [
      await fetch(root),
      ...(await Promise.all([baseUrl, `${baseUrl}/`, root].map((url) => fetch(url, { headers: browser })))),
    ]) {
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      const policy = page.headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'; script-src 'self'; connect-src 'self';");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      expect(await page.text()).toContain('ori call greeter');
    }
    const nowhere = new URL('/nowhere', baseUrl);
    const places = [nowhere, `${baseUrl}/docs/nope`, `${baseUrl}/docs/`];
    for (const place of places) {
      const page = await fetch(place, { headers: browser });
      expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
      expect(await page.text()).toContain(`${root.href}v1/docs`);
    }
    for (const url of [baseUrl, ...places]) {
      const client = await fetch(url);
      expect([client.status, (await client.json()) as object]).toMatchObject([404, { error: { code: 404 } }]);
    }
  });
});

describe('the start page', () => {
  const CALL = { path: '/api/invoke', body: BODY };
  const SIGNED_IN = { ...CALL, user: 'ada' };

  async function ask(
    path: 'proof' | 'call' | 'answer' | 'api',
    content: unknown,
    origin = standalone.state.baseUrl.slice(0, -3),
  ) {
    const response = await fetch(new URL(`/start/${path}`, standalone.state.baseUrl), {
      method: 'POST',
      headers: { origin, 'content-type': 'text/plain' },
      body: JSON.stringify(content),
    });
    return {
      httpStatus: response.status,
      ...((await response.json()) as ProofAnswer & CallAnswer & ChangedAnswer),
    };
  }

  it('makes a real call, and names the sentence of SPEC that refuses each abuse of it', async () => {
    const { proof = {}, signed } = await ask('proof', SIGNED_IN);
    const call = { ...CALL, intern: 'greeter', proof };
    const { status, content, expected } = await ask('call', call);
    expect([status, content]).toEqual([200, JSON.stringify({ user: subjectOf('ada') })]);
    expect(expected).toBe(signed);
    expect(signed).toContain(`,64:${createHash('sha256').update(BODY).digest('hex')},`);
    for (const [change, code, id] of [
      [{}, 'nonce_replayed', 'N7'],
      [{ body: '{"prompt":"hellp"}' }, 'signature_invalid', 'V15'],
      [{ path: '/api/./invoke' }, 'signature_invalid', 'V15'],
      [{ intern: 'analytical' }, 'signature_invalid', 'V15'],
      [{ proof: { ...proof, 'x-ori-invoke-user': subjectOf('grace') } }, 'signature_invalid', 'V15'],
      [{ proof: {} }, 'proof_missing', 'V3'],
    ] as const) {
      const { status, refusal } = await ask('call', { ...call, ...change });
      expect([status, refusal?.code, refusal?.sentence?.id]).toEqual([401, code, id]);
    }
  });

  it('takes the answer that analytical sent, and not the one that arrives', async () => {
    const { sent, arrived } = await ask('answer', SIGNED_IN);
    expect(sent).toMatchObject({ content: JSON.stringify({ user: subjectOf('ada') }) });
    expect(sent.refusal).toBeUndefined();
    expect(arrived.content).not.toBe(sent.content);
    expect(arrived.refusal?.code).toBe('answer_lost');
  });

  it.each([
    ['grace', 404, 'not_found'],
    ['alan', 404, 'not_found'],
    ['mary', 403, 'access_revoked'],
  ])('shows what the signer refuses %s', async (user, status, code) => {
    const refused = await ask('proof', { ...SIGNED_IN, user });
    expect(refused).toMatchObject({ status, refusal: { code } });
    expect(refused.proof).toBeUndefined();
  });

  it('makes requests to the API in the name of a member, and to nothing else', async () => {
    const { internId } = standalone.state;
    const one = await ask('api', { user: 'ada', request: `GET /interns/${internId}` });
    expect([one.status, JSON.parse(one.content)]).toMatchObject([200, { id: internId }]);
    const body = JSON.stringify({ bodySha256: '0'.repeat(64), route: { method: 'POST', path: '/' } });
    const signed = await ask('api', { user: 'ada', request: `POST /interns/${internId}/daemon/sign`, body });
    expect([signed.status, signed.refusal]).toEqual([200, undefined]);
    expect(await ask('api', { user: 'ada', request: 'GET /byok' })).toMatchObject({ status: 401 });
    for (const request of [
      'GET /../start.js',
      'GET https://evil.example/',
      'GET interns',
      'TRACE /interns',
      1,
    ])
      expect((await ask('api', { user: 'ada', request })).httpStatus).toBe(400);
  });

  it('is not played by other pages, and says what it cannot send', async () => {
    for (const origin of [
      'http://evil.example',
      `http://evil.example:${new URL(standalone.state.baseUrl).port}`,
    ])
      for (const path of ['proof', 'call', 'api'] as const)
        expect((await ask(path, SIGNED_IN, origin)).httpStatus).toBe(403);
    const call = { ...CALL, intern: 'greeter', proof: {} };
    for (const [path, content] of [
      ['proof', { ...SIGNED_IN, user: 'linus' }],
      ['proof', { ...SIGNED_IN, path: '/with a space' }],
      ['proof', { ...SIGNED_IN, body: 1 }],
      ['api', { user: 'linus', request: 'GET /interns' }],
      ['call', { ...call, intern: 'jacquard' }],
      ['call', { ...call, path: '/\u{1f600}' }],
      ['call', { ...call, proof: { host: 'evil.example' } }],
      ['call', { ...call, proof: { 'x-ori-invoke-user': 'a\r\nb' } }],
    ] as const)
      expect((await ask(path, content)).httpStatus).toBe(400);
    expect((await ask('call', { ...call, body: 'x'.repeat(65_536) })).httpStatus).toBe(413);
  });
});

describe('starting and stopping', () => {
  it('refuses to listen on another address than loopback, with one message', async () => {
    await using elsewhere = await makeStandaloneHome();
    const { exit, stdout, stderr } = await elsewhere.startRefused({ ORI_HOST: '0.0.0.0' });
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toMatch(/ORI_HOST: expected a loopback address/);
    expect(stderr).not.toContain('    at ');
    expect(existsSync(elsewhere.stateFile)).toBe(false);
  });

  it('has the next two ports, and stops everything at a signal', async () => {
    const { baseUrl, issuer, daemonUrl, metrics } = standalone.state;
    const port = Number(new URL(baseUrl).port);
    expect([issuer, daemonUrl]).toEqual([`http://127.0.0.1:${port + 1}`, `http://127.0.0.1:${port + 2}`]);
    expect(await standalone.stop()).toMatchObject({ exit: 0, stderr: '' });
    expect(existsSync(home.stateFile)).toBe(false);
    for (const url of [baseUrl, issuer, daemonUrl, metrics.signer]) expect(await isOpen(url)).toBe(false);
  });
});

it('stops as at Ctrl-C when nobody reads its output any more', async () => {
  await using own = await makeStandaloneHome();
  const program = spawn(process.execPath, [new URL('services/standalone/src/main.ts', ROOT).pathname], {
    cwd: own.folder,
    env: { PATH: process.env['PATH'], ORI_PORT: '0' },
  });
  const exited = once(program, 'exit');
  await once(program.stdout, 'data');
  program.stdout.destroy();
  expect(await exited).toEqual([0, null]);
  const left = readdirSync(join(own.folder, '.ori')).toSorted();
  expect(left).toEqual(['audit.log', 'management.log', 'signer.log']);
});
