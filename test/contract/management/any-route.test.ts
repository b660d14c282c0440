import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { OPERATIONS } from '../../../services/management/src/operations.ts';
import { capturedLog } from '../../env/captured-log.ts';
import { type ApiCall, type ManagementWorld, startManagementWorld, useManagementWorld } from './world.ts';

const world = await useManagementWorld();
const { json: document } = await world.call({ path: '/openapi.json', bearer: null });

it('records who asked, as the audit names them, also where they are refused', async () => {
  const { log, lines } = capturedLog();
  await using logged = await startManagementWorld({ parts: { log } });
  const { apiKey, apiKeyHash, subject, userId } = logged.ours;
  await logged.call({ path: '/interns', bearer: apiKey });
  await logged.call({ path: '/guardrails', bearer: apiKey });
  await logged.call({ path: '/interns', bearer: await logged.issuer.token({ subject, scope: 'interns' }) });
  await logged.call({ path: '/interns', bearer: null });
  const told = () => lines.filter(({ msg }) => msg === 'request').map(({ status, actor }) => [status, actor]);
  const key = `api_key:${apiKeyHash}`;
  await expect.poll(told).toEqual([
    [200, key],
    [401, key],
    [200, userId],
    [401, undefined],
  ]);
});

it('quotes to the caller what is refused, and not in the log', async () => {
  const { log, text } = capturedLog();
  await using logged = await startManagementWorld({ parts: { log } });
  const post = async (path: string, json: object) => (await logged.call({ method: 'POST', path, json })).text;
  await post('/workspaces', { name: 'Hush Hush', slug: 'hush-hush' });
  expect(await post('/workspaces', { name: 'Hush Hush' })).toContain('Hush Hush');
  expect(await post('/keys', { name: 'x', creator_user_id: 'user_hush' })).toContain('user_hush');
  expect(await post('/byok', { provider: 'azure', key: 'x', declared_region: 'global' })).toContain('azure');
  await expect.poll(() => text().match(/"msg":"request"/g)).toHaveLength(4);
  expect(text()).not.toMatch(/hush|azure/i);
});

/** One call of every operation, with the body of its example. Ids of interns exist; other ids do not. */
function everyOperation({
  ours,
}: ManagementWorld): readonly (ApiCall & { readonly ofInterns: boolean; readonly isClosed: boolean })[] {
  return OPERATIONS.map(({ method, path, family, isClosed = false }) => {
    const ofInterns = family === 'Interns';
    const json = document.paths[path][method.toLowerCase()].requestBody?.content['application/json'].example;
    return {
      method,
      path: path.replace(/\{\w+\}/, ofInterns ? ours.internId : randomUUID()),
      ofInterns,
      isClosed,
      ...(ofInterns && { bearer: ours.apiKey }),
      ...(json !== undefined && { json }),
    };
  });
}

it('answers every operation at the deadline: 408 for interns, 500 where the table is closed, 503 for the rest', async () => {
  const tables = sql`interns, intern_icons, workspaces, guardrails, byok_credentials, api_keys`;
  await using brief = await startManagementWorld({ config: { deadlineMs: 1000 } });
  await brief.store.kysely.transaction().execute(async (trx) => {
    await sql`lock table ${tables} in access exclusive mode`.execute(trx);
    await Promise.all(
      everyOperation(brief).map(async (call) => {
        const { status, json, headers } = await brief.call(call);
        const message = 'The 1000 ms deadline of this route was exceeded.';
        expect([call.method, call.path, status]).toEqual([
          call.method,
          call.path,
          call.ofInterns ? 408 : call.isClosed ? 500 : 503,
        ]);
        if (call.ofInterns) {
          const metadata = { reason: 'timeout', retryable: true };
          expect(json.error).toEqual({ code: 408, message, metadata });
        } else {
          expect(json.error.metadata).toBeUndefined();
          expect(headers['retry-after']).toBe('1');
        }
      }),
    );
  });
  await expect.poll(async () => (await brief.call({ path: '/guardrails' })).status).toBe(200);
});

it('serves its metrics and its readiness on the ops port alone', async () => {
  await world.call({ path: '/guardrails' });
  const metrics = await (await fetch(`${world.opsUrl}/metrics`)).text();
  expect(metrics).toMatch(/route="\/v1\/guardrails"/);
  const ready = await fetch(`${world.opsUrl}/readyz`);
  expect(await ready.json()).toEqual({ status: 'ready', checks: { postgresql: 'ok', issuer: 'ok' } });
});

it('measures each call of the database', async () => {
  const measured = async () => {
    const metrics = await (await fetch(`${world.opsUrl}/metrics`)).text();
    return Number(
      /^ori_dependency_duration_seconds_count\{dependency="postgresql"\} (\d+)$/m.exec(metrics)?.[1],
    );
  };
  const before = await measured();
  for (let n = 0; n < 5; n += 1) await world.call({ path: '/keys' });
  // Two for each request; each look at the metrics asks the database too.
  expect((await measured()) - before).toBeGreaterThanOrEqual(10);
});
