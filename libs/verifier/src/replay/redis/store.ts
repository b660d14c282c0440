import { UnavailableError } from '@ori/proof';
import { requireNames } from '../../options.ts';
import { requireAttached, waitUntilReady } from '../ready.ts';
import { type ReplayPolicy, type ReplayStore, retentionSeconds, type Spend } from '../replay-store.ts';
import { requireSafe, requireSpent } from '../verdict.ts';
import { type RedisClient, requireRedisClient } from './client.ts';
import { issuedKey, issuedValue, spentKey } from './keys.ts';
import { adaptNodeRedis, isNodeRedis, type NodeRedisClient } from './node-redis.ts';
import { type Answer, createScriptRunner } from './script-runner.ts';

/** Options of `redisReplayStore`. */
export interface RedisReplayStoreOptions {
  /**
   * `spend`: a nonce is good once. `redeem`: it must also have been reserved by the signer, which shares this Redis; version 1
   * proofs have no nonce, so `acceptV1` is then a TypeError.
   */
  mode: 'spend' | 'redeem';
  /** How many replicas the server has; 0 by default. With a failover in place and 0 here, a failover can accept a proof twice. */
  replicas?: number;
  /** Limit for one answer; 200 by default. */
  timeoutMs?: number;
  /** Time between two looks at the server's state; 2 by default. */
  touchSeconds?: number;
  /** Unix time in milliseconds for those looks; `Date.now` by default. */
  now?: () => number;
}

export interface RedisReplayStore extends ReplayStore {
  attach(policy: ReplayPolicy): void;
  spend(spend: Spend): Promise<'spent'>;
  /**
   * Waits until the store may be used: connected, safe, and its fence written for every verifier that uses it. `withinMs` is 5000 by
   * default; 0 looks once, for a health check. A proof signed a moment before may still be refused as `proof_before_fence`.
   * @throws {UnavailableError} of the last look: `replay_store_unavailable`, `replay_store_unsafe`, `replay_store_full`.
   * @throws {TypeError} no verifier uses the store yet.
   */
  ready(withinMs?: number): Promise<void>;
  /** What `ready(0)` does. The store does it by itself at start, at every reconnect and every few seconds. */
  touch(): Promise<void>;
  /** Stops looking. The client stays open: it is the caller's. */
  close(): void;
}

/**
 * Remembers spent proofs in Redis, for any number of processes. Each spend is one script, which refuses unless the server is a
 * primary with its replicas at hand, its clock agrees, and nothing was lost since the last spend: after a restart, a failover or a
 * flush, every proof issued up to then is refused (`proof_before_fence`). A spend whose answer was lost counts as spent and is never
 * sent again. See the README for what it does not cover.
 * The client is one of ioredis 5 or 6 (single, Sentinel, Cluster), one of node-redis 5 (`createClient`), or your own `RedisClient`.
 * Throws TypeError for options that cannot work, and for a client that queues or repeats commands.
 */
export function redisReplayStore(
  given: RedisClient | NodeRedisClient,
  options: RedisReplayStoreOptions,
): RedisReplayStore {
  const redis = isNodeRedis(given) ? adaptNodeRedis(given) : given;
  requireRedisClient(redis);
  const { mode, replicas, touchSeconds, now } = requireOptions(options);
  const replicasMin = Math.ceil(replicas / 2);
  const run = createScriptRunner(redis, { replicasMin, timeoutMs: options.timeoutMs ?? 200 });
  const interns = new Map<string, Attached>();
  let unsafe: UnavailableError | undefined;

  /** The arguments that every script begins with. */
  const common = (policy: ReplayPolicy, nowMs: number, checksPolicy: boolean): (string | number)[] => [
    (nowMs / 1000).toFixed(6),
    interns.get(policy.internId)?.newestFence ?? '0',
    retentionSeconds(policy),
    policy.clockToleranceSeconds,
    replicasMin,
    checksPolicy ? '1' : '0',
  ];

  /** Takes the newest fence from a good answer only: an unsafe server's says nothing. */
  function learn(internId: string, { fence }: Answer): void {
    const intern = interns.get(internId);
    if (intern !== undefined && fence !== undefined && Number(fence) > Number(intern.newestFence)) {
      intern.newestFence = fence;
    }
  }

  async function touchOne({ policy }: Attached): Promise<void> {
    const args = [...common(policy, now(), true), policy.acceptV1 ? '1' : '0'];
    const answer = await run.touch('touch', [spentKey(policy.internId)], args);
    learn(policy.internId, answer);
    requireSafe(answer);
  }

  async function touch(): Promise<void> {
    requireAttached(interns);
    try {
      await Promise.all([...interns.values()].map(touchOne));
      unsafe = undefined;
    } catch (error) {
      if (error instanceof UnavailableError && error.code === 'replay_store_unsafe') unsafe = error;
      throw error;
    }
  }

  async function spend({ policy, timestamp, nowMs, nonce, signingInput, v1Id }: Spend): Promise<'spent'> {
    if (unsafe !== undefined) throw new UnavailableError(unsafe.code, unsafe.message);
    const args = [...common(policy, nowMs, false), timestamp];
    const keys = [spentKey(policy.internId)];
    const id = Buffer.from(v1Id(), 'hex');
    let answer: Answer;
    if (nonce === undefined) {
      answer = await run.spend('spendV1', keys, [...args, id]);
    } else if (mode === 'spend') {
      answer = await run.spend('spendV2', keys, [...args, Buffer.from(nonce, 'base64url'), id]);
    } else {
      const issued = [...args, Buffer.from(nonce, 'base64url'), id, issuedValue(signingInput)];
      answer = await run.spend('redeem', [...keys, issuedKey(policy.internId, nonce)], issued);
    }
    learn(policy.internId, answer);
    return requireSpent(answer);
  }

  const touchQuietly = (): void => void touch().catch(() => undefined);
  const timer = setInterval(touchQuietly, touchSeconds * 1000).unref();
  redis.on('ready', touchQuietly);

  return {
    attach(policy) {
      if (mode === 'redeem' && policy.acceptV1) {
        throw new TypeError('acceptV1: a version 1 proof has no nonce to redeem');
      }
      const known = interns.get(policy.internId);
      const acceptV1 = policy.acceptV1 || known?.policy.acceptV1 === true;
      interns.set(policy.internId, {
        policy: { ...policy, acceptV1 },
        newestFence: known?.newestFence ?? '0',
      });
      touchQuietly();
    },
    spend,
    touch,
    ready: (withinMs = READY_WITHIN_MS) => waitUntilReady(touch, withinMs),
    close() {
      clearInterval(timer);
      redis.off('ready', touchQuietly);
    },
  };
}

const READY_WITHIN_MS = 5000;

interface Attached {
  readonly policy: ReplayPolicy;
  newestFence: string;
}

function requireOptions(
  options: RedisReplayStoreOptions,
): Required<Omit<RedisReplayStoreOptions, 'timeoutMs'>> {
  requireNames(options, ['mode', 'replicas', 'timeoutMs', 'touchSeconds', 'now'], 'redisReplayStore');
  const { mode, replicas = 0, timeoutMs = 200, touchSeconds = 2, now = Date.now } = options;
  if (mode !== 'spend' && mode !== 'redeem') throw new TypeError("mode: expected 'spend' or 'redeem'");
  if (!(Number.isInteger(replicas) && replicas >= 0))
    throw new TypeError('replicas: expected an integer from 0');
  if (!(timeoutMs > 0 && timeoutMs <= 5000)) throw new TypeError('timeoutMs: expected 1 to 5000');
  if (!(touchSeconds > 0 && touchSeconds <= 60)) throw new TypeError('touchSeconds: expected up to 60');
  return { mode, replicas, touchSeconds, now };
}
