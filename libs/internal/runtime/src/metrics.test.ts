import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { Admission } from '@ori/http/admission';
import { Deadline } from '@ori/http/deadline';
import { observe } from '@ori/http/request-line';
import { afterEach, expect, it } from 'vitest';
import { createMetrics, type Metrics } from './metrics.ts';

let metrics: Metrics;
afterEach(() => metrics.close());

async function series(): Promise<string[]> {
  const lines = (await metrics.registry.metrics()).split('\n');
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.slice(0, line.lastIndexOf(' ')));
}

function finish(url: string, method: string, status: number, route: string | undefined): void {
  const req = Object.assign(new IncomingMessage(new Socket()), { url, method });
  const res = new ServerResponse(req);
  res.statusCode = status;
  res.flushHeaders();
  const deadline = new Deadline(1000);
  deadline.clear();
  const exchange = {
    requestId: url,
    client: { address: '127.0.0.1', authority: undefined },
    network: '127.0.0.1',
    admission: new Admission(),
    account: undefined,
    receivedAt: performance.now(),
    deadline,
    route,
    error: undefined,
    facts: { url },
  };
  metrics.requestStarted();
  observe(req, res, { exchange, endedAt: performance.now(), sinks: { metrics } });
}

it('keeps the number of series constant for 1,000 random paths, methods and unknown routes', async () => {
  metrics = createMetrics({ service: 'test', routes: ['/a/{id}'] });
  for (const status of [200, 404]) {
    finish('/a/1', 'GET', status, '/a/{id}');
    finish('/a/1', 'GET', status, undefined);
    finish('/a/1', 'BREW', status, undefined);
  }
  const before = await series();
  for (let request = 0; request < 1_000; request++) {
    const path = `/a/${Math.random()}`;
    finish(
      path,
      request % 2 === 0 ? 'GET' : `M${request}`,
      request % 3 === 0 ? 200 : 404,
      request % 5 === 0 ? path : undefined,
    );
  }
  const after = await series();
  expect(after).toEqual(before);
  expect(after.join('\n')).not.toMatch(/0\.\d{5}/);
});

it('counts a request under its route, method and class of status', async () => {
  metrics = createMetrics({ service: 'test', routes: ['/a/{id}'] });
  finish('/a/1', 'GET', 404, '/a/{id}');
  const labels = 'route="/a/{id}",method="GET",status_class="4xx"';
  expect(await metrics.registry.metrics()).toContain(
    `http_server_request_duration_seconds_count{${labels}} 1`,
  );
  expect(await metrics.registry.metrics()).toContain('http_server_requests_in_flight 0');
});

it('shows the process under standard names', async () => {
  metrics = createMetrics({ service: 'test' });
  const names = await series();
  for (const name of [
    'process_cpu_seconds_total',
    'process_resident_memory_bytes',
    'process_start_time_seconds',
    'nodejs_heap_used_bytes',
    'nodejs_eventloop_lag_p50_seconds',
    'nodejs_eventloop_lag_p99_seconds',
  ]) {
    expect(names).toContain(name);
  }
});

it('passes `promtool check metrics`', async () => {
  metrics = createMetrics({ service: 'test' });
  for (const { name, help, type } of await metrics.registry.getMetricsAsJSON()) {
    expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
    expect(help).toMatch(/\S/);
    expect([name, name.endsWith('_total')]).toEqual([name, String(type) === 'counter']);
    expect(name).not.toMatch(/_(count|sum|bucket|milliseconds|ms|kilobytes|minutes)$/);
  }
});
