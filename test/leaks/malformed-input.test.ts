import { randomBytes, randomUUID } from 'node:crypto';
import { capturedLog } from '@ori/runtime/testing/captured-log';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startManagementWorld } from '../contract/management/world.ts';
import { startSignerWorld } from '../contract/signer-world.ts';

const RUNS = 250;

/** What an attacker, or a person by mistake, puts where something else belongs. No two runs share one. */
const canary = () => `AIzaCANARY${randomBytes(12).toString('hex')}`;

/** Bodies that hold the canary where it makes them malformed, or in a place of a well-formed one. */
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
  readonly headers: [string, string][];
  readonly body?: string;
}

const place = <T>(...choices: T[]) => fc.constantFrom(...choices);

/** A request with a canary in at least one place; `routes` hold `*` where an id belongs. */
function asks(routes: readonly (readonly [string, string])[], bearers: readonly string[]) {
  return fc
    .record({
      route: fc.constantFrom(...routes),
      body: fc.option(fc.constantFrom(...bodies), { freq: 6, nil: undefined }),
      id: place<(it: string) => string>(
        () => randomUUID(),
        (it) => it,
        (it) => `%${it}`,
        (it) => `${it}%00`,
      ),
      query: place<(it: string) => string>(
        () => '',
        (it) => `?limit=${it}&offset=${it}`,
        (it) => `?starting_after=${it}`,
        (it) => `?starting_after=${Buffer.from(`2026-02-30T00:00:00.000Z ${it}`).toString('base64url')}`,
        (it) => `?workspace_id=${it}&workspace_id=${it}&status=${it}`,
        (it) => `?provider=${it}&v=${it}`,
      ),
      header: place<(it: string) => [string, string][]>(
        () => [],
        (it) => [['If-None-Match', it]],
        (it) => [['X-Request-Id', `${it}!`]],
        (it) => [['DPoP', it]],
        (it) => [['X-Custom', it]],
        (it) => [['Content-Encoding', it]],
      ),
      type: place<(it: string) => string>(
        () => 'application/json',
        () => 'application/json',
        (it) => `multipart/form-data; boundary=${it}`,
        (it) => it,
      ),
      bearer: place<(it: string) => string>(
        ...bearers.map((token) => () => token),
        (it) => it,
        (it) => `${Buffer.from(`{"alg":"${it}"}`).toString('base64url')}.${it}.${it}`,
        (it) => `sk-ori-v1-${it}`,
      ),
    })
    .map(({ route: [method, path], body, id, query, header, type, bearer }) => {
      const it = canary();
      const ask: Ask = {
        method,
        path: path.replace('*', id(it)) + query(it),
        headers: [
          ['Authorization', `Bearer ${bearer(it)}`],
          ...header(it),
          ...(method === 'GET' || method === 'DELETE'
            ? []
            : ([['Content-Type', type(it)]] as [string, string][])),
        ],
        ...(body !== undefined && method !== 'GET' && method !== 'DELETE' && { body: body(it) }),
      };
      return { it, ask };
    });
}

async function requireSilence(
  routes: readonly (readonly [string, string])[],
  bearers: readonly string[],
  text: () => string,
  send: (ask: Ask) => Promise<unknown>,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(asks(routes, bearers), async ({ it, ask }) => {
      const before = text().length;
      await send(ask);
      await expect.poll(() => text().length).toBeGreaterThan(before);
      const written = text().slice(before);
      // Ten characters of a key are too many.
      for (let at = 0; at + 10 <= it.length; at += 1) expect(written).not.toContain(it.slice(at, at + 10));
    }),
    { numRuns: RUNS },
  );
}

test('management logs nothing of malformed input, wherever it stands', { timeout: 120_000 }, async () => {
  const log = capturedLog();
  await using world = await startManagementWorld({ parts: { log: log.log } });
  const routes = [
    ['GET', '/interns'],
    ['GET', '/interns/*/icon'],
    ['GET', '/byok'],
    ['PATCH', '/byok/*'],
    ['GET', '/guardrails'],
    ['POST', '/guardrails'],
    ['GET', '/guardrails/*'],
    ['PATCH', '/guardrails/*'],
    ['DELETE', '/guardrails/*'],
    ['POST', '/guardrails/*/assignments/keys'],
    ['POST', '/guardrails/*/assignments/members/remove'],
    ['GET', '/guardrails/assignments/keys'],
    ['GET', '/*'],
  ] as const;
  const bearers = [world.ours.managementKey, world.ours.managementKey, await world.issuer.token()];
  await requireSilence(routes, bearers, log.text, ({ headers, body, ...rest }) =>
    fetch(`${world.baseUrl}${rest.path}`, {
      method: rest.method,
      headers,
      ...(body !== undefined && { body }),
    }).then((reply) => reply.arrayBuffer()),
  );
});

test('the signer logs nothing of malformed input, wherever it stands', { timeout: 120_000 }, async () => {
  const log = capturedLog();
  await using world = await startSignerWorld({ parts: { log: log.log } });
  const routes = [
    ['POST', `/interns/${world.tenants.internId}/daemon/sign`],
    ['POST', '/interns/*/daemon/sign'],
    ['GET', '/interns/*/daemon/jwks.json'],
    ['GET', '/*'],
  ] as const;
  const bearers = [await world.token(), await world.token(), await world.token()];
  await requireSilence(routes, bearers, log.text, ({ headers, body, ...rest }) =>
    fetch(`${world.baseUrl}${rest.path}`, {
      method: rest.method,
      headers,
      ...(body !== undefined && { body }),
    }).then((reply) => reply.arrayBuffer()),
  );
});
