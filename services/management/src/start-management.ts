import type { IncomingMessage } from 'node:http';
import { collectConnections, collectIssuerKeysAge, timeDependencies } from '@ori/http/dependency-metrics';
import { openPorts } from '@ori/http/open-ports';
import { whileReady } from '@ori/http/serve-while-ready';
import { parseTarget } from '@ori/http/target';
import { openTracing } from '@ori/http/tracing';
import { createDpopNonces, DPOP_NONCE_PURPOSE } from '@ori/identity/dpop/nonces';
import { createPossession } from '@ori/identity/dpop/possession';
import { openIdentity } from '@ori/identity/open-identity';
import { ConfigError } from '@ori/runtime/config';
import { createLogger, type Logger } from '@ori/runtime/log';
import { createMetrics, type Metrics } from '@ori/runtime/metrics';
import type { KekRing } from '@ori/sealing/kek-ring';
import { collectKeks, openServiceRing } from '@ori/sealing/service-ring';
import type { Database } from '@ori/store/database';
import { createLoginCheck, overprivilegedLogin } from '@ori/store/login';
import { openPostgres } from '@ori/store/postgres';
import { MANAGEMENT } from '@ori/store/privileges/management';
import { createCallers } from './callers/identify.ts';
import { type ApiKeyCaller, findApiKeyCaller } from './callers/queries.ts';
import { databaseSpentProofs } from './callers/spent-proofs.ts';
import type { ManagementConfig } from './config.ts';
import { createPatternCompiler } from './guardrails/pattern-compiler.ts';
import { createApp } from './http/app.ts';
import REFERENCE from './http/generated/reference.json' with { type: 'json' };
import { createReferenceFiles, type Reference } from './http/reference-files.ts';
import { OPERATIONS } from './operations.ts';
import { isOfCaller, presentOverload } from './presentation.ts';

export { loadManagementConfig, MANAGEMENT_SPEC, type ManagementConfig } from './config.ts';

/** How long the database may take, in milliseconds: to give a connection, and to answer. */
const CONNECT_TIMEOUT_MS = 400;
const STATEMENT_TIMEOUT_MS = 500;

/** Dependencies that can be injected instead of being created from the configuration. */
export interface ManagementParts {
  readonly database: Database;
  readonly ring: KekRing;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Default: what `npm run reference` generated. */
  readonly reference: Reference;
}

/**
 * Starts the management service: its API and its ops port. Behind a gateway the start waits for PostgreSQL and the
 * issuer; otherwise it listens at once. `/readyz` says what is missing.
 *
 * @throws ConfigError for an unusable KEK ring, or a database login that may do more than it needs
 */
export async function startManagement(config: ManagementConfig, parts: Partial<ManagementParts> = {}) {
  const log = parts.log ?? createLogger({ service: 'management', level: config.logLevel });
  const now = parts.now ?? Date.now;
  const basePath = new URL(config.baseUrl).pathname;
  const files = createReferenceFiles(config.baseUrl, parts.reference ?? REFERENCE);
  const metrics = createMetrics({
    service: 'management',
    routes: [...new Set([...OPERATIONS, ...files].map(({ path }) => basePath + path))],
  });

  // Released in reverse order, at the stop or when the start fails.
  await using stack = new AsyncDisposableStack();
  stack.defer(() => metrics.close());
  const tracing = await openTracing({ service: 'management', config, log });
  if (tracing) stack.defer(tracing.close);
  const ring =
    parts.ring ??
    stack.adopt(await openServiceRing('management', config, log), (opened) => opened.close()).ring;
  collectKeks(metrics.registry, ring);
  const database = parts.database ?? openDatabase(config, stack, metrics);
  const db = timeDependencies(metrics.registry, tracing)('postgresql', database);
  /** Resolves if the database answers, takes transactions, as a PgBouncer that pools statements does not, and is migrated. */
  const ping = () =>
    db.transaction(async (trx) => void (await trx.selectFrom('guardrails').select('id').limit(0).execute()));
  if (parts.database === undefined) await checkLogin(ping);
  const patterns = stack.adopt(createPatternCompiler(), (compiler) => compiler.close());
  const identity = stack.adopt(
    openIdentity<ApiKeyCaller>(config, {
      async apiKey(hash) {
        const apiKey = await findApiKeyCaller(db, hash);
        return apiKey === undefined ? {} : { apiKey };
      },
      now,
      fetch: tracing?.fetch,
    }),
    (open) => open.close(),
  );
  const spent = databaseSpentProofs(db);
  const dpopNonces = createDpopNonces(() => ring.derive(DPOP_NONCE_PURPOSE), now, spent.epoch);
  const possession = createPossession({
    nonces: dpopNonces,
    spent,
    requireContent: config.dpopRequireContent,
    now,
  });
  const app = createApp({
    baseUrl: config.baseUrl,
    operations: OPERATIONS,
    files,
    regionalHosts: new Set(config.regionalHosts),
    callers: createCallers({ identities: identity, possession, requireDpop: config.requireDpop, db }),
    dpopNonces,
    operationsMax: config.databasePoolMax,
    services: { db, ring, patterns },
  });

  const templates = OPERATIONS.map((operation) => ({
    operation,
    shape: new RegExp(`^${basePath}${operation.path.replace(/\{\w+\}/g, '[^/]+')}$`),
  }));
  const operationOf = ({ method, url }: IncomingMessage) => {
    const path = parseTarget(url)?.path ?? '';
    const wanted = method === 'HEAD' ? 'GET' : method;
    return templates.find(({ operation, shape }) => operation.method === wanted && shape.test(path))
      ?.operation;
  };

  if (database.connections) collectConnections(metrics.registry, database.connections);
  await identity.tellMisconfigured(log);
  collectIssuerKeysAge(metrics.registry, identity.keysAgeSeconds);
  const { api, opsUrl, stop } = await openPorts(
    config,
    {
      app: tracing?.serve(app) ?? app,
      log,
      metrics,
      behindGateway: whileReady(),
      checks: { postgresql: ping, issuer: identity.check },
      presentBusy: (req, budget) => presentOverload(isOfCaller(budget), operationOf(req)),
    },
    stack,
  );
  log.info({ url: api.url, opsUrl }, 'listening');
  return {
    url: api.url,
    opsUrl,
    app,
    /** Where requests are recorded that reach the application through another server. */
    sinks: { log, metrics },
    /** Stops accepting, completes requests in progress, and closes everything that was not injected. */
    stop,
  };
}

function openDatabase(config: ManagementConfig, stack: AsyncDisposableStack, metrics: Metrics): Database {
  if (config.databaseUrl === undefined) {
    throw new TypeError('startManagement: expected databaseUrl or a database');
  }
  const database = openPostgres({
    url: config.databaseUrl.reveal(),
    check: createLoginCheck(MANAGEMENT),
    poolMax: config.databasePoolMax,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    applicationName: 'ori-management',
    onConnect: (socket) => metrics.noteCertificates(socket, { own: 'postgresql_client', peer: 'postgresql' }),
  });
  stack.defer(() => database.close());
  return database;
}

/** A database that is not up yet is checked at its first connection, before any query. */
async function checkLogin(ping: () => Promise<void>): Promise<void> {
  const refusal = await overprivilegedLogin(ping);
  if (refusal !== undefined) throw new ConfigError(refusal.problems('MANAGEMENT_DATABASE_URL'));
}
