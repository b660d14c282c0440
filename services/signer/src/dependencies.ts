import { openPool } from '@ori/postgres/pool';
import type { StatementPool } from '@ori/postgres/statements';
import { connectRedis, type RedisClient } from '@ori/redis/connection';
import { type EvictionWatch, watchEviction } from '@ori/redis/eviction';
import type { NoteCertificates } from '@ori/runtime/certificate-ends';
import type { Logger } from '@ori/runtime/log';
import { createLoginCheck } from '@ori/store/login';
import { SIGNER } from '@ori/store/privileges/signer';
import { type SignerQueries, signerQueries } from '@ori/store/signer';
import { createTurnLimiter, type TurnLimiter } from '@ori/turns/limiter';
import { redisTlsFiles, type SignerConfig } from './config.ts';
import { type AuditLog, openAuditFile } from './effects/audit-file.ts';
import { type Nonces, redisNonces } from './effects/nonces.ts';
import { type ProofStore, redisSpentProofs } from './effects/spent-proofs.ts';
import { limiterTurns } from './effects/turns.ts';
import { requireDependencies } from './require-dependencies.ts';

/** Time limits of the database in milliseconds: to provide a connection, and to answer. */
const CONNECT_TIMEOUT_MS = 400;
const STATEMENT_TIMEOUT_MS = 400;

/**
 * A proof is accepted up to its age, a clock tolerance of at most 60 s and 30 s of a body after its timestamp (SPEC.md, V17); Redis's
 * clock and rounding add to it.
 */
const RESERVED_LONGER_SECONDS = 95;

/** The services that the signer depends on; the standalone injects its own. */
export interface Dependencies {
  readonly store: SignerQueries;
  readonly turns: TurnLimiter;
  readonly nonces: Nonces;
  readonly spentProofs: ProofStore;
  readonly audit: AuditLog;
}

/**
 * Connects what was not injected. `/readyz` shows a dependency that is missing; one that is present is checked before
 * use.
 *
 * @throws ConfigError for a Redis that evicts keys and for a database login with too many privileges; DependencyError `audit`
 */
export async function connectDependencies(
  config: SignerConfig,
  given: Partial<Dependencies>,
  log: Logger,
  note: NoteCertificates,
) {
  await using stack = new AsyncDisposableStack();
  const audit =
    given.audit ??
    stack.adopt(await openAuditFile(config.auditFile, config.auditSync), (file) => file.close());
  const { turns: givenTurns, nonces: givenNonces, spentProofs: givenProofs } = given;
  const needsRedis = [givenTurns, givenNonces, givenProofs].includes(undefined);
  const tls = redisTlsFiles(config);
  const redis = needsRedis
    ? stack.adopt(
        connectRedis(required(config.redisUrl, 'redisUrl'), { purpose: 'signer', log, tls }),
        (client) => client.disconnect(),
      )
    : undefined;
  const eviction = redis && stack.adopt(watch(redis, log), (watching) => watching.close());
  const database = given.store === undefined ? openDatabase(config, stack, note) : undefined;
  const store = given.store ?? signerQueries(required(database, 'databaseUrl'));
  const limiter = given.turns ?? limiterOf(config, required(redis, 'redisUrl'));
  const keptSeconds = config.proofMaxAgeSeconds + RESERVED_LONGER_SECONDS;
  const nonces = given.nonces ?? redisNonces(required(redis, 'redisUrl'), keptSeconds);
  const spentProofs = given.spentProofs ?? redisSpentProofs(required(redis, 'redisUrl'), eviction);
  const turns = limiterTurns({ limiter, nonces, spentProofs, eviction });
  await requireDependencies({
    eviction,
    store: given.store === undefined ? store : undefined,
    // Not the whole pool: a server shared by many signers may not have enough connections for every pool's maximum.
    connections: Math.ceil(config.databasePoolMax / 2),
  });
  const owned = stack.move();
  return {
    audit,
    redis,
    eviction,
    /** Absent if the store was injected. */
    database,
    store,
    turns,
    nonces,
    spentProofs,
    close: (): Promise<void> => owned.disposeAsync(),
  };
}

function openDatabase(
  config: SignerConfig,
  stack: AsyncDisposableStack,
  note: NoteCertificates,
): StatementPool {
  const database = openPool({
    url: required(config.databaseUrl, 'databaseUrl').reveal(),
    check: createLoginCheck(SIGNER),
    poolMax: config.databasePoolMax,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    applicationName: 'ori-signer',
    onConnect: (socket) => note(socket, { own: 'postgresql_client', peer: 'postgresql' }),
  });
  stack.defer(() => database.close());
  return database;
}

function watch(redis: RedisClient, log: Logger): EvictionWatch {
  return watchEviction(redis, {
    onChange(unsafe) {
      if (unsafe) log.error({ err: unsafe }, 'Redis may evict turns and nonces: signing is suspended');
      else log.info('Redis does not evict: signing resumes');
    },
  });
}

function limiterOf(config: SignerConfig, redis: RedisClient): TurnLimiter {
  const { turnsPerUser, turnsPerOrganization, turnWindowSeconds: windowSeconds } = config;
  return createTurnLimiter({ redis, turnsPerUser, turnsPerOrganization, windowSeconds });
}

function required<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new TypeError(`startSigner: expected ${name}, or parts that replace it`);
  return value;
}
