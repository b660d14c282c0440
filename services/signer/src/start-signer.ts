import { createDpopNonces, createPossession, DPOP_NONCE_PURPOSE } from '@ori/dpop';
import { startOpsServer } from '@ori/http/ops';
import { type Sinks, startApiServer } from '@ori/http/server';
import { stopService } from '@ori/http/stop-service';
import { openIdentity } from '@ori/identity';
import { createFairPlaces } from '@ori/runtime/fair-places';
import { createLogger, type Logger } from '@ori/runtime/log';
import type { KekRing } from '@ori/store/sealing';
import { collectKeks, openServiceRing } from '@ori/store/sealing/service-ring';
import type { Express } from 'express';
import { connectDependencies, type Dependencies } from './adapters/dependencies.ts';
import { createIdentities } from './adapters/identities.ts';
import { collectKeyOutlook } from './adapters/key-outlook-metrics.ts';
import { collectSafety } from './adapters/safety-metrics.ts';
import { createSignerMetrics } from './adapters/signer-metrics.ts';
import { createSigningKeys } from './adapters/signing-keys.ts';
import { createStoreCache } from './adapters/store-cache.ts';
import type { SignerConfig } from './config.ts';
import { REFUSAL_REASONS } from './http/presentations.ts';
import { createSignerApp, presentBusy, signerRoutes } from './http/signer-app.ts';

export { type AuditLog, openAuditFile } from './adapters/audit-file.ts';
export type { Dependencies } from './adapters/dependencies.ts';
export { memoryNonces, type Nonces } from './adapters/nonces.ts';
export { loadSignerConfig, SIGNER_SPEC, type SignerConfig } from './config.ts';

const CHECK_TIMEOUT_MS = 1000;
/** How long a service behind a gateway waits for what it depends on before it listens all the same. */
const SETTLE_MS = 5000;

/** What may be brought along instead of being made from the configuration. */
export interface SignerParts extends Dependencies {
  readonly ring: KekRing;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface RunningSigner {
  /** Where the API listens. */
  readonly url: string;
  readonly opsUrl: string;
  readonly app: Express;
  /** Where requests are seen that reach the application through another server. */
  readonly sinks: Sinks;
  /** Opens the audit file again, after it was rotated away. */
  reopenAudit(): Promise<void>;
  /** Stops accepting, lets requests under way end, lets go of everything that was not brought along. */
  stop(): Promise<void>;
}

/**
 * Starts the signer: its API and its ops port. It does not wait for Redis, PostgreSQL or the issuer, or behind a gateway
 * for a moment only; `/readyz` says what is missing, and a request that needs it gets 500 `internal_error`.
 *
 * @throws ConfigError for an unusable KEK ring, a Redis that evicts, a database login that may do more than it needs;
 *   DependencyError `audit` for an audit file that cannot be opened
 */
export async function startSigner(
  config: SignerConfig,
  parts: Partial<SignerParts> = {},
): Promise<RunningSigner> {
  const log = parts.log ?? createLogger({ service: 'signer', level: config.logLevel });
  const now = parts.now ?? Date.now;
  const { issuer, baseUrl } = config;
  const regionalHosts = new Set(config.regionalHosts);
  const metrics = createSignerMetrics(Object.values(signerRoutes(baseUrl)), REFUSAL_REASONS);

  // Let go of in reverse order: at the stop, and when the start fails half way.
  await using stack = new AsyncDisposableStack();
  stack.defer(() => metrics.http.close());
  const ring =
    parts.ring ?? stack.adopt(openServiceRing('signer', config, log), (opened) => opened.close()).ring;
  collectKeks(metrics.http.registry, ring);
  const outside = await connectDependencies(config, parts, log);
  stack.defer(outside.close);
  const memory = createStoreCache({ store: outside.store, now, onLookup: metrics.lookedUp });
  const identity = openIdentity(config, {
    apiKey: memory.apiKey,
    now,
    onLookup: (hit) => metrics.lookedUp('tokens', hit),
  });
  stack.defer(identity.close);
  const identities = createIdentities(identity);
  const keys = createSigningKeys({
    rows: memory.signingKeys,
    ring,
    home: { issuer, baseUrl },
    now,
    onUnusable(row, error) {
      metrics.signingKeyUnusable();
      log.error({ keyId: row.id, internId: row.internId, err: error }, 'signing key unusable');
    },
  });
  const dpopNonces = createDpopNonces(() => ring.derive(DPOP_NONCE_PURPOSE), now);
  const app = createSignerApp(
    {
      baseUrl,
      issuer,
      regionalHosts,
      identities,
      requireDpop: config.requireDpop,
      dpopNonces,
      possession: createPossession({
        nonces: dpopNonces,
        spent: outside.spentProofs,
        requireNonce: config.dpopRequireNonce,
        now,
      }),
      atWork: createFairPlaces({
        ...{ budget: 'work', places: config.signingAtOnceMax },
        ...{ waitingPerKeyMax: config.requestsInFlightPerAccountMax, waitingMax: config.requestsInFlightMax },
      }),
      gate: memory.gate,
      keys,
      turns: outside.turns,
      nonces: { ...outside.nonces, onTaken: metrics.nonceTaken },
      audit: outside.audit,
      publishedKeys: memory.publishedKeys,
      now,
    },
    metrics,
  );

  const { redis, eviction, store } = outside;
  collectSafety(metrics.http.registry, eviction);
  collectKeyOutlook(metrics.http.registry, { outlook: (at) => store.keyOutlook(at), now });
  const ops = await startOpsServer({
    host: config.opsHost,
    port: config.opsPort,
    registry: metrics.http.registry,
    checkTimeoutMs: CHECK_TIMEOUT_MS,
    checks: {
      ...(redis && {
        async redis() {
          await redis.ping();
          await eviction?.require();
        },
      }),
      postgresql: memory.check,
      issuer: identities.check,
      audit: outside.audit.check,
    },
  });
  stack.defer(ops.stop);
  const { host, port, deadlineMs, trustGateway } = config;
  // A gateway sends requests to whatever listens.
  if (trustGateway) await ops.settled(SETTLE_MS);
  const api = await startApiServer({
    ...{ app, host, port, deadlineMs, trustGateway, log, metrics: metrics.http },
    ...{ limits: config, presentBusy },
  });
  log.info({ url: api.url, opsUrl: ops.url }, 'listening');
  const owned = stack.move();

  return {
    url: api.url,
    opsUrl: ops.url,
    app,
    sinks: { log, metrics: metrics.http },
    reopenAudit: outside.audit.reopen,
    async stop() {
      await stopService({ ops, api }, config);
      await owned.disposeAsync();
    },
  };
}
