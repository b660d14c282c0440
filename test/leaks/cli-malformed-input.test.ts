import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runOri } from '../e2e/cli-in-process.ts';
import type { OriHome } from '../e2e/cli-process.ts';
import { type CliWorld, INTERN_ID, type Scripted, startCliWorld } from '../e2e/cli-world.ts';

/** A secret that must not be shown: a token, a signature or a body. Unique per run. */
const canary = () => `AIzaCANARY${randomBytes(12).toString('hex')}`;

let world: CliWorld;
let home: OriHome;
beforeAll(async () => {
  world = await startCliWorld();
  home = await world.newHome();
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

interface Run {
  readonly args?: readonly string[];
  readonly token?: string;
  readonly session?: string;
  readonly answer?: Scripted;
}

const SIGN = ['sign', INTERN_ID, '--path', '/api/invoke', '--data', '{}'];
const CALL = ['call', INTERN_ID, '/api/invoke'];
const GOOD_TOKEN = 'opaque-access-token-of-somebody';
const session = (members: object) =>
  JSON.stringify({
    version: 1,
    base_url: world.baseUrl,
    resource: world.baseUrl,
    issuer: world.issuer,
    client_id: 'ori-cli',
    subject: 'acct_ada',
    name: null,
    scope: 'vault:read',
    access_token: GOOD_TOKEN,
    expires_at: 1,
    refresh_token: null,
    signed_in_at: 1,
    renewed_at: 1,
    ...members,
  });
const proof = (members: object) => ({
  'x-ori-invoke-signature': 'A'.repeat(86).concat('=='),
  'x-ori-invoke-timestamp': '1789000000',
  'x-ori-invoke-user': 'acct_ada',
  ...members,
});

/** The places for a secret, in each form that makes the input malformed or refused. */
const RUNS: Readonly<Record<string, readonly ((it: string) => Run)[]>> = {
  ORI_TOKEN: [
    (it) => ({ token: it }),
    (it) => ({ token: `two ${it}` }),
    (it) => ({ token: `${it}\u0000` }),
    (it) => ({ token: `e30.${it}.${it}`, answer: { status: 401, body: {} } }),
    (it) => ({ token: `${it}é` }),
    (it) => ({ token: it.repeat(200) }),
  ],
  'the session file': [
    (it) => ({ session: it }),
    (it) => ({ session: `{"access_token": ${it}}` }),
    (it) => ({ session: `{"access_token": "${it}` }),
    (it) => ({ session: `{"${it}": 1}` }),
    (it) => ({ session: session({ access_token: [it] }) }),
    (it) => ({ session: session({ access_token: `two ${it}` }) }),
    (it) => ({ session: session({ refresh_token: it }) }),
    (it) => ({ session: session({ refresh_token: it, issuer: 'http://127.0.0.1:9' }) }),
    (it) => ({ session: session({ proof_key: { kty: 'EC', d: it } }) }),
    (it) => ({ session: session({ version: 99, access_token: it }) }),
  ],
  'the body': [
    (it) => ({ token: GOOD_TOKEN, args: [...CALL, '--data', it] }),
    (it) => ({ token: GOOD_TOKEN, args: [...CALL, '--data', `{"key": ${it}`] }),
    (it) => ({
      token: GOOD_TOKEN,
      args: [...CALL, '--data', `${it}\u0000`, '--daemon', 'http://127.0.0.1:9'],
    }),
  ],
  'a header': [
    (it) => ({ token: GOOD_TOKEN, args: [...CALL, '--data', '{}', '-H', `Authorization ${it}`] }),
    (it) => ({ token: GOOD_TOKEN, args: [...CALL, '--data', '{}', '-H', `X-Key: ${it}\nX: y`] }),
    (it) => ({ token: GOOD_TOKEN, args: [...CALL, '--data', '{}', '-H', `x-ori-invoke-user: ${it}`] }),
  ],
  'the answer of the signer': [
    (it) => ({ token: GOOD_TOKEN, answer: { status: 200, body: it } }),
    (it) => ({ token: GOOD_TOKEN, answer: { status: 200, body: proof({ 'x-ori-invoke-signature': it }) } }),
    (it) => ({ token: GOOD_TOKEN, answer: { status: 200, body: proof({ 'x-ori-invoke-signature': [it] }) } }),
    (it) => ({
      token: GOOD_TOKEN,
      answer: { status: 200, body: proof({ 'x-ori-invoke-signature': `${it}\n` }) },
    }),
    (it) => ({ token: GOOD_TOKEN, answer: { status: 200, body: proof({ [it]: 'x' }) } }),
    (it) => ({ token: GOOD_TOKEN, answer: { status: 200, body: { 'x-ori-invoke-signature': it } } }),
    (it) => ({ token: GOOD_TOKEN, answer: { status: 500, body: { error: it } } }),
    (it) => ({ token: GOOD_TOKEN, answer: { status: 418, body: { key: it } } }),
    (it) => ({ token: GOOD_TOKEN, answer: { status: 401, headers: { 'set-cookie': it }, body: [it] } }),
    (it) => ({
      token: GOOD_TOKEN,
      answer: { status: 302, headers: { location: `http://127.0.0.1:9/?key=${it}` } },
    }),
  ],
};

test.each(Object.entries(RUNS))(
  'ori shows no part of a malformed secret, or of a secret in malformed input: %s',
  { timeout: 120_000 },
  async (_, forms) => {
    for (const [index, form] of forms.entries()) {
      for (const flags of [[], ['--json', '--verbose']]) {
        const it = canary();
        const { args = SIGN, token, session: file, answer } = form(it);
        world.scripted.length = 0;
        if (answer !== undefined) world.scripted.push(answer);
        await rm(home.sessionFile, { force: true });
        if (file !== undefined) {
          await mkdir(dirname(home.sessionFile), { recursive: true, mode: 0o700 });
          await writeFile(home.sessionFile, file, { mode: 0o600 });
        }
        const env = {
          ORI_BASE_URL: world.baseUrl,
          ORI_DAEMON_URL: world.daemonUrl,
          ...(token !== undefined && { ORI_TOKEN: token }),
        };
        const { exit, stdout, stderr } = await runOri(home, [...args, ...flags], env);
        expect(exit, `${index}`).not.toBe(0);
        const shown = stdout + stderr;
        expect(stderr.length, `${index}`).toBeGreaterThan(10);
        const leaked = Array.from(it.slice(9), (_, at) => it.slice(at, at + 10)).filter((part) =>
          shown.includes(part),
        );
        expect(leaked, `${index} ${flags}: ${shown}`).toEqual([]);
      }
    }
  },
);
