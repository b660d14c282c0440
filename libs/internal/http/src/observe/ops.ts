import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chainOf } from '@ori/faces/system-error';
import { instrumentsOf, type Registry } from '@ori/runtime/instruments';
import { sendEnvelope } from '../ground/envelope.ts';
import { parseTarget } from '../ground/target.ts';
import { explainFailure } from './explain-failure.ts';

type ReadinessCheck = () => Promise<void>;

export interface OpsServerOptions {
  host: string;
  port: number;
  registry: Registry;
  /** One per dependency, under the name that `/readyz` and `/metrics` show; resolves if the dependency works. */
  checks: Readonly<Record<string, ReadinessCheck>>;
  /** For one check; 1000 by default. */
  checkTimeoutMs?: number;
}

/**
 * The operator's port: `/livez` (the process answers), `/readyz` (each dependency by name, never by address; 503 if one
 * fails) and `/metrics`. It must not be reachable from the public network.
 */
export async function startOpsServer(options: OpsServerOptions) {
  const { checkTimeoutMs = 1000 } = options;
  let draining = false;
  const causes = new Map<string, string>();
  const ask = async (names: readonly string[] = Object.keys(options.checks)) => {
    const checks = Object.entries(options.checks).filter(([name]) => names.includes(name));
    const verdicts = checks.map(async ([name, check]) => {
      const { verdict, cause } = await run(check, checkTimeoutMs);
      if (cause === undefined) causes.delete(name);
      else causes.set(name, cause);
      return [name, verdict];
    });
    return Object.fromEntries(await Promise.all(verdicts)) as Record<string, string>;
  };
  // At each scrape, so that a failure is visible before a request runs into it.
  instrumentsOf(options.registry).readings(
    'ori_dependency_up',
    '1 if the dependency worked at the time of the scrape, else 0.',
    ['dependency'],
    async () =>
      Object.entries(await ask()).map(([dependency, verdict]) => [{ dependency }, verdict === 'ok' ? 1 : 0]),
  );
  const routes: Record<string, (res: ServerResponse) => Promise<void>> = {
    '/livez': async (res) => sendJson(res, 200, { status: 'alive' }),
    '/readyz': async (res) => {
      const verdicts = await ask();
      const checks = draining ? { ...verdicts, shutdown: 'draining' } : verdicts;
      const ready = Object.values(checks).every((verdict) => verdict === 'ok');
      sendJson(res, ready ? 200 : 503, {
        status: ready ? 'ready' : 'not ready',
        checks,
        ...(causes.size > 0 && { causes: Object.fromEntries(causes) }),
      });
    },
    '/metrics': async (res) => {
      const body = await options.registry.metrics();
      res.writeHead(200, { 'content-type': options.registry.contentType }).end(body);
    },
  };
  const server = createServer({ requestTimeout: 10_000 }, (req, res) => {
    const path = parseTarget(req.url)?.path ?? '';
    const route = routes[path];
    if (route === undefined) return sendEnvelope(res, { status: 404, message: 'Not found.' });
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      const headers = { allow: 'GET, HEAD' };
      return sendEnvelope(res, { status: 405, message: 'Method not allowed.', headers });
    }
    route(res).catch(() => sendEnvelope(res, { status: 500, message: 'Internal error.' }));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return {
    url: `http://${host}:${port}`,
    port,
    /** Runs every check, or those named: `ok`, or why it fails. */
    verdicts: ask,
    /** Why the failing checks failed when they last ran, as sentences for the operator. */
    causes: () => Object.fromEntries(causes),
    /** Makes `/readyz` answer 503 from now on, so that no new traffic is sent here. */
    drain(): void {
      draining = true;
    },
    stop: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export type OpsServer = Awaited<ReturnType<typeof startOpsServer>>;

interface Readiness {
  readonly verdict: string;
  readonly cause?: string | undefined;
}

/** The code or class name of a failure, because a message may contain an address, and its explanation if there is one. */
async function run(check: ReadinessCheck, timeoutMs: number): Promise<Readiness> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<Readiness>((resolve) => {
    const late = { verdict: 'failing: timeout', cause: `it did not answer within ${timeoutMs} ms` };
    timer = setTimeout(resolve, timeoutMs, late);
  });
  const verdict = async () => {
    try {
      await check();
      return { verdict: 'ok' };
    } catch (error) {
      return { verdict: `failing: ${nameFailure(error)}`, cause: explainFailure(error) };
    }
  };
  return Promise.race([verdict(), timeout]).finally(() => clearTimeout(timer));
}

/** PostgreSQL's condition names for a database that was not migrated, or was restored without its grants. */
const SQLSTATES: Readonly<Record<string, string>> = {
  '42501': 'insufficient_privilege',
  '42703': 'undefined_column',
  '42P01': 'undefined_table',
};

/** The first code among the error and its causes, otherwise the first name other than `Error`. */
function nameFailure(error: unknown): string {
  const chain = chainOf(error);
  const codes = chain.map((link) => ('code' in link ? String(link.code) : ''));
  const code = codes.find((known) => /^[A-Za-z0-9_]{1,64}$/.test(known));
  if (code !== undefined) return SQLSTATES[code] ?? code;
  const name = chain.map((link) => link.name.replace(/\W/g, '')).find((known) => known !== 'Error');
  return (name ?? 'unknown').slice(0, 64);
}

function sendJson(res: ServerResponse, status: number, value: unknown): void {
  res.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  res.end(JSON.stringify(value));
}
