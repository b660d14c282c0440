import { collectConnections, collectIssuerKeysAge, timeDependencies } from '@ori/http/dependency-metrics';
import { type OpenPorts, openPorts } from '@ori/http/open-ports';
import { whileReady } from '@ori/http/serve-while-ready';
import { openTracing } from '@ori/http/tracing';
import { createDpopNonces, DPOP_NONCE_PURPOSE } from '@ori/identity/dpop/nonces';
import { createPossession } from '@ori/identity/dpop/possession';
import { openIdentity } from '@ori/identity/open-identity';
import { pingRedis, redisTime } from '@ori/redis/connection';
import { createFairSemaphore } from '@ori/runtime/fair-semaphore';
import { createLogger, type Logger } from '@ori/runtime/log';
import type { KekRing } from '@ori/sealing/kek-ring';
import { collectKeks, openServiceRing } from '@ori/sealing/service-ring';
import type { SignerConfig } from './config.ts';
import { signProof } from './core/sign-proof.ts';
import { connectDependencies, type Dependencies } from './dependencies.ts';
import { REFUSAL_REASONS } from './edge/presentations.ts';
import { createSignerApp, presentBusy, signerRoutes } from './edge/signer-app.ts';
import { createSignerMetrics } from './edge/signer-metrics.ts';
import { type RemoteClock, watchClock } from './facts/clock-watch.ts';
import { createIdentities } from './facts/identities.ts';
import { createStoreCache } from './facts/store-cache.ts';
import { collectKeySetRoles, type KeySetRoles, openKeySetRoles } from './keys/freshness.ts';
import { createKeyRecord } from './keys/key-record.ts';
import { createSigningKeys } from './keys/signing-keys.ts';
import { watchKeks } from './ops/kek-watch.ts';
import { collectKeyExpiry } from './ops/key-expiry-metrics.ts';
import { logRefusals } from './ops/log-refusals.ts';
import { collectSafety } from './ops/safety-metrics.ts';

/** Requests that use Redis, PostgreSQL and the audit file at a time; further ones wait, and accounts take turns. */
const SIGNING_AT_ONCE_MAX = 32;

/** Dependencies that can be injected instead of being created from the configuration. */
export interface SignerParts extends Dependencies {
  readonly ring: KekRing;
  readonly roles: KeySetRoles;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The clocks that it is compared with, by name. Default: Redis and PostgreSQL. */
  readonly clocks: Readonly<Record<string, RemoteClock>>;
}

/**
 * Starts the signer: its API and its ops port. Behind a gateway the start waits for Redis, PostgreSQL and the issuer, and
 * the API refuses connections while its own audit file, clock or KEK ring fails; otherwise it listens at once. `/readyz` shows what
 * is missing, and a request that needs it gets 500 `internal_error`.
 *
 * @throws ConfigError for an unusable KEK ring, a Redis that evicts keys, a database login with too many privileges;
 *   DependencyError `audit` for an audit file that cannot be opened
 */
export async function startSigner(config: SignerConfig, parts: Partial<SignerParts> = {}) {
  const log = parts.log ?? createLogger({ service: 'signer', level: config.logLevel });
  const now = parts.now ?? Date.now;
  const { issuers, baseUrl } = config;
  const regionalHosts = new Set(config.regionalHosts);
  const metrics = createSignerMetrics(
    Object.values(signerRoutes(baseUrl)),
    REFUSAL_REASONS,
    issuers.map(({ issuer }) => issuer),
  );

  // Closed in reverse order: at the stop, and if the start fails halfway.
  await using stack = new AsyncDisposableStack();
  stack.defer(() => metrics.http.close());
  const tracing = await openTracing({ service: 'signer', config, log });
  if (tracing) stack.defer(tracing.close);
  const ring =
    parts.ring ?? stack.adopt(await openServiceRing('signer', config, log), (opened) => opened.close()).ring;
  collectKeks(metrics.http.registry, ring);
  const opened = parts.roles === undefined ? await openKeySetRoles(config, log) : undefined;
  stack.defer(() => opened?.close());
  const roles = parts.roles ?? opened;
  if (roles) collectKeySetRoles(metrics.http.registry, roles);
  const outside = await connectDependencies(config, parts, log, metrics.http.noteCertificates);
  stack.defer(outside.close);
  const timed = timeDependencies(metrics.http.registry, tracing);
  const store = timed('postgresql', outside.store);
  const memory = createStoreCache({ store, now, onLookup: metrics.lookedUp });
  const identity = openIdentity(config, {
    apiKey: memory.apiKey,
    now,
    onLookup: (hit) => metrics.lookedUp('tokens', hit),
    onVerified({ authenticatedAt, issuer }, couldBeBound) {
      metrics.tokenVerified(authenticatedAt !== undefined);
      if (couldBeBound) metrics.tokenUnbound(issuer);
    },
    onBindingLost({ issuer }) {
      metrics.bindingLost();
      log.warn(
        { issuer },
        'a person whose session was bound to a key signs without: see boundBefore in the audit file',
      );
    },
    fetch: tracing?.fetch,
  });
  stack.defer(identity.close);
  const identities = createIdentities(identity);
  const keys = createSigningKeys({
    rows: memory.signingKeys,
    onlyStated: roles !== undefined,
    ring,
    now,
    onUnusable(row, error) {
      metrics.signingKeyUnusable();
      log.error({ keyId: row.id, internId: row.internId, err: error }, 'signing key unusable');
    },
  });
  const dpopNonces = createDpopNonces(() => ring.derive(DPOP_NONCE_PURPOSE), now, outside.spentProofs.epoch);
  const { redis, eviction, database } = outside;
  const clock = stack.adopt(
    watchClock({
      clocks: parts.clocks ?? {
        ...(redis && { redis: () => redisTime(redis) }),
        ...(parts.store === undefined && { postgresql: store.time }),
      },
      registry: metrics.http.registry,
      now,
      onChange(isWrong, offsets) {
        if (isWrong) log.error({ offsets }, 'clock is wrong: signing is suspended');
        else log.info({ offsets }, 'clock is correct again: signing resumes');
      },
    }),
    (watch) => watch.close(),
  );
  let ports: OpenPorts | undefined;
  const app = createSignerApp(
    {
      baseUrl,
      issuers,
      regionalHosts,
      identities,
      requireDpop: config.requireDpop,
      requireContent: config.dpopRequireContent,
      dpopNonces,
      possession: createPossession({
        nonces: dpopNonces,
        spent: timed('redis', outside.spentProofs),
        requireContent: config.dpopRequireContent,
        now,
      }),
      atWork: createFairSemaphore({
        budget: 'work',
        permits: SIGNING_AT_ONCE_MAX,
        waitingPerKeyMax: config.requestsInFlightPerAccountMax,
        waitingMax: config.requestsInFlightMax,
      }),
      gate: memory.gate,
      keys,
      turns: timed('redis', outside.turns),
      nonces: {
        ...timed('redis', outside.nonces),
        draw: outside.nonces.draw,
        onTaken: metrics.nonceTaken,
      },
      audit: timed('audit', outside.audit),
      clock,
      publishedKeys: memory.publishedKeys,
      recordKeys: createKeyRecord({ audit: outside.audit, now }),
      roles,
      now,
    },
    {
      ...metrics,
      dependencyFailed(dependency) {
        metrics.dependencyFailed(dependency);
        ports?.look();
      },
    },
    log.isLevelEnabled('debug') ? logRefusals(log, signProof) : signProof,
  );

  if (database?.connections) collectConnections(metrics.http.registry, database.connections);
  await identity.tellMisconfigured(log);
  collectIssuerKeysAge(metrics.http.registry, identity.keysAgeSeconds);
  collectSafety(metrics.http.registry, eviction, () => store.lifecycleWrites());
  collectKeyExpiry(metrics.http.registry, { expiry: (at) => store.keyExpiry(at), now });
  const keks = watchKeks({ inUse: () => store.keksInUse(), ring, registry: metrics.http.registry, now });
  await clock.compare();
  ports = await openPorts(
    config,
    {
      app: tracing?.serve(app) ?? app,
      log,
      metrics: metrics.http,
      presentBusy,
      behindGateway: whileReady('audit', 'clock', 'kek'),
      checks: {
        ...(redis && {
          async redis() {
            await pingRedis(redis);
            await eviction?.require();
          },
        }),
        postgresql: memory.check,
        issuer: identities.check,
        audit: outside.audit.check,
        kek: keks.check,
        async clock() {
          clock.check();
        },
      },
    },
    stack,
  );
  const { api, opsUrl, stop } = ports;
  log.info({ url: api.url, opsUrl }, 'listening');
  const sinks = { log, metrics: metrics.http };
  return {
    /** Where the API listens. */
    url: api.url,
    opsUrl,
    app,
    /** Observes requests that reach the application through another server. */
    sinks,
    /** Reopens the audit file, after it was rotated away. */
    reopenAudit: outside.audit.reopen,
    /** Stops accepting, completes requests in progress, and closes everything that was not injected. */
    stop,
  };
}

export type RunningSigner = Awaited<ReturnType<typeof startSigner>>;
