import { createMetrics } from '@ori/runtime/metrics';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { type OpsServer, type OpsServerOptions, startOpsServer } from './ops.ts';

let ops: OpsServer | undefined;
afterEach(() => ops?.stop());

async function start(options: Partial<OpsServerOptions>): Promise<string> {
  const registry = new Registry();
  ops = await startOpsServer({
    host: '127.0.0.1',
    port: 0,
    registry,
    checks: {},
    checkTimeoutMs: 50,
    ...options,
  });
  return ops.url;
}

const fine = async () => {};

describe('/readyz', () => {
  it('is 200 if every dependency works', async () => {
    const answer = await fetch(`${await start({ checks: { redis: fine, postgresql: fine } })}/readyz`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ status: 'ready', checks: { redis: 'ok', postgresql: 'ok' } });
  });

  it('is 503 and names a failing dependency by code, never by address', async () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:6379'), { code: 'ECONNREFUSED' });
    const checks = {
      redis: () => Promise.reject(refused),
      issuer: () => Promise.reject(new TypeError('https://issuer.internal/ is down')),
      disk: () => {
        throw new RangeError('/secret/path');
      },
      postgresql: () => new Promise<void>(() => {}),
      grants: () => Promise.reject(Object.assign(new Error('no select on interns'), { code: '42501' })),
      wrapped: () => Promise.reject(new Error('gave no answer', { cause: refused })),
      rest: fine,
    };
    const answer = await fetch(`${await start({ checks })}/readyz`);
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({
      status: 'not ready',
      checks: {
        redis: 'failing: ECONNREFUSED',
        issuer: 'failing: TypeError',
        disk: 'failing: RangeError',
        postgresql: 'failing: timeout',
        grants: 'failing: insufficient_privilege',
        wrapped: 'failing: ECONNREFUSED',
        rest: 'ok',
      },
      causes: {
        redis: 'nothing listens there',
        postgresql: 'it did not answer within 50 ms',
        grants: 'the login lacks a privilege: run ori-admin migrate',
        wrapped: 'nothing listens there',
      },
    });
  });

  it('is 503 while the service drains', async () => {
    const url = await start({ checks: { redis: fine } });
    ops?.drain();
    const answer = await fetch(`${url}/readyz`);
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({
      status: 'not ready',
      checks: { redis: 'ok', shutdown: 'draining' },
    });
  });
});

describe('the operator’s port', () => {
  it('/livez is 200 even if no dependency works', async () => {
    const answer = await fetch(`${await start({ checks: { redis: () => new Promise(() => {}) } })}/livez`);
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'alive' }]);
  });

  it('shows at each scrape whether each dependency works, like /readyz', async () => {
    let redis: () => Promise<void> = fine;
    const checks = { redis: () => redis(), issuer: () => new Promise<void>(() => {}) };
    const url = await start({ checks });
    const scrape = async () => (await fetch(`${url}/metrics`)).text();
    const first = await scrape();
    expect(first).toContain('ori_dependency_up{dependency="redis"} 1');
    expect(first).toContain('ori_dependency_up{dependency="issuer"} 0');
    redis = () => Promise.reject(new Error('gone'));
    expect(await scrape()).toContain('ori_dependency_up{dependency="redis"} 0');
  });

  it('shows the metrics in the text format', async () => {
    const metrics = createMetrics({ service: 'test' });
    const answer = await fetch(`${await start({ registry: metrics.registry })}/metrics`);
    metrics.close();
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(await answer.text()).toMatch(/^ori_service_info\{service="test",version="\d+\.\d+\.\d+"\} 1$/m);
  });

  it.each(['/', '/livez/', '/LIVEZ', '/v1/interns', '/toString', '/__proto__'])(
    'answers 404 to %s',
    async (path) => {
      const answer = await fetch(`${await start({})}${path}`);
      expect([answer.status, await answer.json()]).toEqual([
        404,
        { error: { code: 404, message: 'Not found.' } },
      ]);
    },
  );

  it('answers 405 to other methods than GET and HEAD', async () => {
    const answer = await fetch(`${await start({})}/metrics`, { method: 'POST' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});
