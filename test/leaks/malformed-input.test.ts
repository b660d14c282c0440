import { randomBytes, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { capturedLog } from '@ori/test-env/captured-log';
import { startWorld } from '@ori/test-env/world';
import { expect, test } from 'vitest';
import { OPERATIONS } from '../../services/management/src/operations.ts';
import { startManagementWorld } from '../contract/management/world.ts';
import { startSignerWorld } from '../contract/signer-world.ts';
import { run } from '../hardening/signer-process.ts';
import { createScanner } from './scanner.ts';

/** A secret in a wrong place, put there by an attacker or by mistake. Unique per request. */
const canary = () => `AIzaCANARY${randomBytes(12).toString('hex')}`;

/** Bodies that the canary makes malformed, or well-formed bodies that contain it. */
const bodies: readonly ((it: string) => string)[] = [
  (it) => it,
  (it) => `{"key": ${it}}`,
  (it) => `{"key": "${it}`,
  (it) => `{"key": "${it}\n"}`,
  (it) => `{"${it}": 1}`,
  (it) => `{"${it}": 1, "${it}": 2}`,
  (it) => `{"key": "x"} ${it}`,
  (it) => `{"key": {"${it}": []}}`,
  (it) => `{"key": "${it}\\u0000"}`,
  (it) => `{"key": "${it} "}`,
  (it) => `{"name": "${it.repeat(20)}"}`,
  (it) => `{"name": "x", "content_filters": [{"pattern": "(${it}", "action": "block"}]}`,
  (it) => `{"name": "x", "allowed_models": ["${it}", 1]}`,
  (it) => `{"allowed_api_key_hashes": ["${it}"]}`,
  (it) =>
    `{"allowed_api_key_hashes": ["${Buffer.from(it).toString('hex').padEnd(64, '0').slice(0, 64)}"], "key": "${it}"}`,
  (it) => `{"reset_interval": "${it}", "limit_usd": "${it}"}`,
  (it) => `{"declared_region": "${it}"}`,
  (it) => `{"bodySha256": "${it}", "route": {"method": "${it}", "path": "${it}"}}`,
  (it) => `{"key_hashes": ["${it}"], "member_user_ids": ["${it}"]}`,
  (it) => `[${'['.repeat(40)}"${it}"`,
  (it) => `\u0000${it}`,
];

interface Ask {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

type Form = (it: string) => string;

const ids: readonly Form[] = [(it) => it, (it) => `%${it}`, (it) => `${it}%00`];
const queries: readonly Form[] = [
  (it) => `limit=${it}&offset=${it}`,
  (it) => `starting_after=${it}`,
  (it) => `starting_after=${Buffer.from(`2026-02-30T00:00:00.000Z ${it}`).toString('base64url')}`,
  (it) => `workspace_id=${it}&workspace_id=${it}`,
  (it) => `status=${it}&provider=${it}&v=${it}`,
];
const types: readonly Form[] = [(it) => it, (it) => `multipart/form-data; boundary=${it}`];
const bearers: readonly Form[] = [
  (it) => it,
  (it) => `${Buffer.from(`{"alg":"${it}"}`).toString('base64url')}.${it}.${it}`,
  (it) => `sk-ori-v1-${it}`,
];
const headers = ['If-None-Match', 'X-Request-Id', 'DPoP', 'X-Custom', 'Content-Encoding', 'Accept'];

const withHeader = (right: Ask, name: string, value: string): Ask => ({
  ...right,
  headers: { ...right.headers, [name]: value },
});

/** The places for a canary and its forms there. The rest of the request is valid. */
const places: Readonly<Record<string, readonly ((it: string, right: Ask) => Ask)[]>> = {
  body: bodies.map((form) => (it, right) => ({ ...right, body: form(it) })),
  id: ids.map((form) => (it, right) => ({ ...right, path: right.path.replace(ID, form(it)) })),
  query: queries.map((form) => (it, right) => ({ ...right, path: `${right.path}?${form(it)}` })),
  header: headers.map((name) => (it, right) => withHeader(right, name, it)),
  type: types.map((form) => (it, right) => withHeader(right, 'Content-Type', form(it))),
  bearer: bearers.map((form) => (it, right) => withHeader(right, 'Authorization', `Bearer ${form(it)}`)),
};

const ID = randomUUID();

/** Sends every form in every place of every route, and searches the log for any ten characters of it. */
async function requireSilence(
  baseUrl: string,
  routes: readonly (readonly [method: string, path: string])[],
  bearer: string,
  text: () => string,
): Promise<void> {
  for (const [method, path] of routes) {
    const hasBody = method === 'POST' || method === 'PATCH';
    const right: Ask = {
      method,
      path: path.replace('*', ID),
      headers: { Authorization: `Bearer ${bearer}`, ...(hasBody && { 'Content-Type': 'application/json' }) },
      ...(hasBody && { body: '{}' }),
    };
    for (const [place, forms] of Object.entries(places)) {
      if (place === 'body' && !hasBody) continue;
      for (const [index, form] of forms.entries()) {
        const it = canary();
        const { path: target, ...init } = form(it, right);
        const before = text().length;
        await (await fetch(baseUrl + target, init)).arrayBuffer();
        await expect.poll(() => text().length, { interval: 1 }).toBeGreaterThan(before);
        const written = text().slice(before);
        const leaked = Array.from(it.slice(9), (_, at) => it.slice(at, at + 10)).filter((part) =>
          written.includes(part),
        );
        expect(leaked, `${method} ${path}, ${place} ${index}: ${written}`).toEqual([]);
      }
    }
  }
}

test('management logs no part of malformed input', { timeout: 120_000 }, async () => {
  const log = capturedLog();
  await using world = await startManagementWorld({ parts: { log: log.log } });
  const all = OPERATIONS.map(({ method, path }) => [method, path.replace(/\{\w+\}/, '*')] as const);
  // One of each method and subject.
  const kinds = Map.groupBy(all, ([method, path]) => `${method} ${path.split('/')[1]}`);
  const routes = [...kinds.values()].flatMap(([first]) => (first === undefined ? [] : [first]));
  expect(routes.length).toBeGreaterThan(8);
  await requireSilence(world.baseUrl, [...routes, ['GET', '/*']], world.ours.managementKey, log.text);
});

test('the signer logs no part of malformed input', { timeout: 120_000 }, async () => {
  const log = capturedLog();
  await using world = await startSignerWorld({ parts: { log: log.log } });
  const routes = [
    ['POST', `/interns/${world.tenants.internId}/daemon/sign`],
    ['POST', '/interns/*/daemon/sign'],
    ['GET', '/interns/*/daemon/jwks.json'],
    ['GET', '/*'],
  ] as const;
  await requireSilence(world.baseUrl, routes, await world.token(), log.text);
});

test('a failing start names the variable, not its value', { timeout: 120_000 }, async () => {
  await using world = await startWorld();
  const { SIGNER_KEK_FILE = '' } = world.environment;
  const [redisUrl, secret, unknownName, kekText] = [canary(), canary(), canary(), canary()];
  const kek = join(dirname(SIGNER_KEK_FILE), 'broken.json');
  await writeFile(kek, `{"keys":[{"kty":"oct","k":"${kekText}"`, { mode: 0o600 });
  const starts = [
    {
      SIGNER_REDIS_URL: `redis:/:${redisUrl}@h`,
      SIGNER_DATABASE_URL: '',
      SIGNER_INTROSPECTION_CLIENT_SECRET: secret,
      SIGNER_INTROSPECTION_CLIENT_ID: '',
      SIGNER_PROOF_MAX_AGE_SECONDS: '10m',
      SIGNER_REDIS_PASSWORD: unknownName,
    },
    { SIGNER_KEK_FILE: kek },
    // Its port is occupied.
    {},
  ];
  const { password } = new URL(world.environment['SIGNER_DATABASE_URL'] ?? '');
  const { scan } = createScanner({ redisUrl, secret, unknownName, kekText, password, ring: world.kekText });
  for (const changes of starts) {
    const { code, stdout, stderr } = await run('ori-signer', { ...world.environment, ...changes });
    expect(code).not.toBe(0);
    expect((stdout + stderr).length).toBeGreaterThan(20);
    expect(scan('the output', stdout + stderr)).toEqual([]);
  }
});
