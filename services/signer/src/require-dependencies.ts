import { EvictingRedis, type EvictionWatch } from '@ori/redis/eviction';
import { ConfigError } from '@ori/runtime/config';
import { overprivilegedLogin } from '@ori/store/login';
import type { SignerQueries } from '@ori/store/signer';

export interface CheckedDependencies {
  readonly eviction: EvictionWatch | undefined;
  readonly store: Pick<SignerQueries, 'ping'> | undefined;
  /** How many connections to PostgreSQL are opened here, so that the first requests do not wait for them. */
  readonly connections: number;
}

/** How long the start waits until Redis can be checked, in milliseconds. */
const SETTLE_MS = 1000;

/**
 * Fails the start if a dependency that is available is not safe to sign with. One that is not available yet is checked
 * when it connects: until then nothing is signed, and `/readyz` reports it.
 *
 * @throws ConfigError
 */
export async function requireDependencies({
  eviction,
  store,
  connections,
}: CheckedDependencies): Promise<void> {
  const problems = await Promise.all([problemsOfRedis(eviction), problemsOfLogin(store, connections)]);
  if (problems.flat().length > 0) throw new ConfigError(problems.flat());
}

async function problemsOfRedis(eviction: EvictionWatch | undefined): Promise<string[]> {
  if (eviction === undefined) return [];
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, SETTLE_MS);
  await Promise.race([eviction.settled(), late]);
  clearTimeout(timer);
  const error: unknown = eviction.isUnsafe ? await eviction.require().catch((refusal) => refusal) : undefined;
  if (!(error instanceof EvictingRedis)) return [];
  return error.policy === undefined
    ? [`SIGNER_REDIS_URL: ${error.message}`, 'fix it with', "  ACL SETUSER <the signer's user> +info"]
    : [
        `SIGNER_REDIS_URL: ${error.message}, so that it forgets turns and issued nonces when its memory is full`,
        'fix it with',
        '  CONFIG SET maxmemory-policy noeviction     and the same line in redis.conf',
      ];
}

async function problemsOfLogin(store: CheckedDependencies['store'], connections: number): Promise<string[]> {
  if (store === undefined) return [];
  const others = Array.from({ length: connections - 1 }, () => store.ping().catch(() => {}));
  const [refusal] = await Promise.all([overprivilegedLogin(store.ping), ...others]);
  return refusal?.problems('SIGNER_DATABASE_URL') ?? [];
}
