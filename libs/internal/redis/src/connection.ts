import { createSecureContext } from 'node:tls';
import type { Logger } from '@ori/runtime/log';
import type { Secret } from '@ori/runtime/secret';
import { readTlsFiles, type TlsFiles } from '@ori/runtime/tls-files';
import { Cluster, type DNSLookupFunction, Redis } from 'ioredis';
import { type CommandLimits, limitCommands } from './command-limits.ts';
import { parseRedisUrl, REDIS_URL_FORMS, type RedisAddress } from './url.ts';
import { writeTogether } from './write-together.ts';

export { parseRedisUrl, REDIS_URL_FORMS } from './url.ts';

export type RedisClient = Redis | Cluster;

export interface RedisConnectionOptions {
  /** What the connection is for; its name in `CLIENT LIST` and in the log. */
  purpose: string;
  /** How long one command may take, in milliseconds. */
  commandTimeoutMs?: number;
  /** The time without a reply after which a connection is replaced, in milliseconds. */
  socketTimeoutMs?: number;
  log?: Logger;
  /** For a URL with TLS: our certificate and key, and the authorities to trust instead of the system's. Read at each connection. */
  tls?: TlsFiles;
}

/** Short and bounded, so that Redis is used again within a second of its return. */
const backoffMs = (attempt: number) => Math.min(attempt * 50, 250);
const CONNECT_TIMEOUT_MS = 500;
const SLOTS_REFRESH_MS = 500;
const DISCONNECT_TIMEOUT_MS = 100;

/**
 * Opens a connection that hides no failure: no command waits for a connection or is sent twice, and each has a
 * time limit. It returns immediately and keeps connecting until `disconnect()`; while it is not connected,
 * every command fails immediately. The URL appears in no message.
 *
 * @throws {TypeError} when the URL has none of {@link REDIS_URL_FORMS}; as `readTlsFiles` does.
 */
export function connectRedis(url: Secret, options: RedisConnectionOptions): RedisClient {
  const address = parseRedisUrl(url.reveal());
  if (address === undefined) throw new TypeError(`invalid Redis URL; expected one of ${REDIS_URL_FORMS}`);
  const { commandTimeoutMs = 200, socketTimeoutMs = 300 } = options;
  const limits = { commandTimeoutMs, socketTimeoutMs };
  const client: RedisClient = open(address, options, limits, () => failures.set(client, replica()));
  onNode(client, (node) => limitCommands(node, limits));
  report(client, options);
  onNodeReady(client, async (node) => writeTogether(node.stream));
  return client;
}

function open(
  address: RedisAddress,
  options: RedisConnectionOptions,
  { commandTimeoutMs }: CommandLimits,
  onDemoted: () => void,
): RedisClient {
  const common = connectionOptions(address, options, onDemoted);
  switch (address.kind) {
    case 'single':
      return new Redis({ ...common, ...address.node, retryStrategy: backoffMs, enableOfflineQueue: false });
    case 'sentinel': {
      const { username: sentinelUsername, password: sentinelPassword } = address.sentinelLogin;
      return new Redis({
        ...common,
        sentinels: address.sentinels.map((node) => ({ ...node })),
        name: address.masterName,
        retryStrategy: backoffMs,
        enableOfflineQueue: false,
        sentinelCommandTimeout: commandTimeoutMs,
        sentinelRetryStrategy: backoffMs,
        ...(sentinelUsername === undefined ? {} : { sentinelUsername }),
        ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
        ...(common.tls === undefined ? {} : { sentinelTLS: common.tls, enableTLSForSentinelMode: true }),
      });
    }
    case 'cluster':
      return openCluster(address, common);
  }
}

function openCluster(
  address: RedisAddress & { kind: 'cluster' },
  common: ReturnType<typeof connectionOptions>,
): Cluster {
  const options = {
    redisOptions: common,
    enableOfflineQueue: false,
    // It asks any node, also one that is still connecting; that fails, and the whole pool starts again.
    enableReadyCheck: false,
    clusterRetryStrategy: backoffMs,
    clusterNodeRetryStrategy: backoffMs,
    // Zero: a command whose node or slot is down fails instead of being sent again.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
    // A node that is down cannot report the new owner of its slots, and a failed command does not trigger a refresh.
    slotsRefreshInterval: SLOTS_REFRESH_MS,
    // A name that a certificate was issued for must reach the TLS layer unresolved.
    ...(address.tls ? { dnsLookup: keepName } : {}),
  };
  const cluster = new Cluster(
    address.nodes.map((node) => ({ ...node })),
    options,
  );
  // By default a node connects at its first command, which would have to wait.
  cluster.on('+node', (node: Redis) => {
    if (node.status === 'wait') node.connect().catch(() => {});
  });
  return cluster;
}

/** ioredis resolves the nodes' names itself by default. */
const keepName: DNSLookupFunction = (host, done) => done(null, host, 0);

function connectionOptions(
  address: RedisAddress,
  { purpose, tls, log }: RedisConnectionOptions,
  onDemoted: () => void,
) {
  return {
    connectionName: `ori-${purpose}`,
    // It would need another ACL permission (CLIENT SETINFO), without a benefit for the operator.
    disableClientInfo: true,
    db: address.db,
    connectTimeout: CONNECT_TIMEOUT_MS,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    // A demoted master answers READONLY; reconnecting finds the new master.
    reconnectOnError(error: Error) {
      const demoted = error.message.startsWith('READONLY');
      if (demoted) onDemoted();
      return demoted;
    },
    ...(address.username === undefined ? {} : { username: address.username }),
    ...(address.password === undefined ? {} : { password: address.password }),
    ...(address.tls ? { tls: tls === undefined ? {} : renewable(tls, log) } : {}),
  };
}

/**
 * TLS options that ioredis reads at each connection, so that a renewed certificate needs no restart. While the files
 * cannot be used, as in the middle of a renewal, the previous ones stay in use: an exception would end the reconnecting.
 */
function renewable(files: TlsFiles, log: Logger | undefined) {
  let last = createSecureContext(readTlsFiles(files));
  return {
    get secureContext() {
      try {
        last = createSecureContext(readTlsFiles(files));
      } catch (err) {
        log?.error({ err }, 'could not load the TLS files for Redis; the previous certificate stays in use');
      }
      return last;
    },
  };
}

/**
 * Calls `prepare` with a node each time a connection to it is ready, for state that a server loses when it
 * restarts (`SCRIPT LOAD`). Nodes are those of a Cluster, or the single Redis. Failures are ignored until the
 * next connection.
 */
export function onNodeReady(client: RedisClient, prepare: (node: Redis) => Promise<unknown>): void {
  onNode(client, (node) => {
    const run = () => void prepare(node).catch(() => {});
    if (node.status === 'ready') run();
    node.on('ready', run);
  });
}

/** Calls back with each present and future node: every node of a Cluster, or the single Redis. */
function onNode(client: RedisClient, watch: (node: Redis) => void): void {
  const known = client instanceof Redis ? [client] : client.nodes('all');
  for (const node of known) watch(node);
  client.on('+node', watch);
}

/** The server's time, in milliseconds since the epoch. */
export async function redisTime(client: RedisClient): Promise<number> {
  const [seconds, microseconds] = await client.time();
  return Number(seconds) * 1000 + Number(microseconds) / 1000;
}

const failures = new WeakMap<RedisClient, Error>();
const replica = () => Object.assign(new Error('this Redis is a replica'), { code: 'standby' });

/** Redis judges it as one that writes: it refuses it where it has no memory, disk or replica for a write. */
const WRITING_SCRIPT = '#!lua\nreturn 1';

/**
 * Resolves if Redis answers, is not a replica and takes writes. @throws `standby` for a replica; otherwise an error whose `cause` is
 * the last failed connection
 */
export async function pingRedis(client: RedisClient): Promise<void> {
  try {
    await client.ping();
  } catch (error) {
    const isAnswer = error instanceof Error && error.name === 'ReplyError';
    throw isAnswer ? error : new Error('no connection to Redis', { cause: failures.get(client) ?? error });
  }
  // A Cluster sends commands to its masters.
  if (client instanceof Redis && /^role:slave\b/m.test(await client.info('replication').catch(() => '')))
    throw replica();
  await client.eval(WRITING_SCRIPT, 0);
}

/** One line when the connection is lost and one when it is back; ioredis repeats the error at every attempt. */
function report(client: RedisClient, { purpose, log }: RedisConnectionOptions): void {
  let lost = false;
  client.on('error', (err: Error) => {
    failures.set(client, err);
    if (!lost) log?.warn({ purpose, err }, 'Redis connection failed');
    lost = true;
  });
  client.on('ready', () => {
    if (lost) log?.info({ purpose }, 'Redis connection restored');
    lost = false;
  });
}
