import { randomUUID } from 'node:crypto';
import { UnavailableError } from '@ori/proof/wire';
import { type AnswerStore, type ReplayPolicy, retentionSeconds, type Spend } from '../replay-store.ts';
import {
  attend,
  requireSharedOptions,
  type SharedReplayStore,
  type SharedReplayStoreOptions,
  surviveErrors,
} from '../shared-store.ts';
import { ANSWER_SECONDS } from '../times.ts';
import { requireSafe, requireSpent } from '../verdict.ts';
import { type RedisClient, requireRedisClient } from './client.ts';
import { answerKey, spentKey } from './keys.ts';
import { adaptNodeRedis, isNodeRedis, type NodeRedisClient } from './node-redis.ts';
import { issuedKey, issuedValue } from './reservation.ts';
import { type Answer, createScriptRunner } from './script-runner.ts';

/** Options of `redisReplayStore`. */
export interface RedisReplayStoreOptions extends SharedReplayStoreOptions {
  /**
   * `spend`: accept each nonce once. `redeem`: the signer, which shares this Redis, must also have reserved it. Version 1 proofs
   * have no nonce, so `acceptV1` is then a TypeError.
   */
  mode: 'spend' | 'redeem';
}

/**
 * Remembers spent proofs in Redis, for any number of processes. Each spend is one script, which refuses unless the server is a
 * primary with enough replicas in sync, its clock agrees, and nothing was lost since the last spend: after a restart, a failover or
 * a flush, every proof issued up to then is refused (`proof_before_fence`). A spend without an answer counts as spent and is never
 * sent again. The README lists what is not covered.
 * The client is one of ioredis 5 or 6 (single, Sentinel, Cluster), one of node-redis 5 (`createClient`), or your own `RedisClient`.
 * @throws {TypeError} for invalid options, and for a client that queues or repeats commands.
 */
export function redisReplayStore(
  given: RedisClient | NodeRedisClient,
  options: RedisReplayStoreOptions,
): SharedReplayStore {
  const redis = isNodeRedis(given) ? adaptNodeRedis(given) : given;
  requireRedisClient(redis);
  const lastError = surviveErrors(given);
  const { replicas, timeoutMs, touchSeconds, callEnds, now } = requireSharedOptions(
    options,
    ['mode'],
    'redisReplayStore',
  );
  const { mode } = options;
  if (mode !== 'spend' && mode !== 'redeem') throw new TypeError("mode: expected 'spend' or 'redeem'");
  const replicasMin = Math.ceil(replicas / 2);
  const run = createScriptRunner(redis, { replicasMin, timeoutMs, lastError });
  const process = randomUUID();
  const attendance = attend(touchSeconds, touchAll);
  /** By intern; text, so that no digit changes. */
  const newestFences = new Map<string, string>();
  let unsafe: UnavailableError | undefined;

  /** The first arguments of every script. */
  const common = (policy: ReplayPolicy, nowMs: number, checksPolicy: boolean): (string | number)[] => [
    (nowMs / 1000).toFixed(6),
    newestFences.get(policy.internId) ?? '0',
    retentionSeconds(policy),
    policy.clockToleranceSeconds,
    replicasMin,
    checksPolicy ? '1' : '0',
  ];

  /** Takes the newest fence only from successful answers: an unsafe server returns none. */
  function learn(internId: string, { fence = '0' }: Answer): void {
    if (Number(fence) > Number(newestFences.get(internId) ?? '0')) newestFences.set(internId, fence);
  }

  async function touchOne(policy: ReplayPolicy): Promise<void> {
    const args = [
      ...common(policy, now(), true),
      policy.acceptV1 ? '1' : '0',
      policy.answers === undefined ? '' : process,
    ];
    const answer = await run.touch('touch', [spentKey(policy.internId)], args);
    learn(policy.internId, answer);
    requireSafe(answer);
  }

  async function touchAll(): Promise<void> {
    try {
      await Promise.all([...attendance.policies.values()].map(touchOne));
      unsafe = undefined;
    } catch (error) {
      if (error instanceof UnavailableError && error.code === 'replay_store_unsafe') unsafe = error;
      throw error;
    }
  }

  async function spend({
    policy,
    timestamp,
    nowMs,
    nonce,
    signingInput,
    v1Id,
    caller,
  }: Spend): Promise<'spent'> {
    if (unsafe !== undefined) throw unsafe;
    const args: (string | number | Buffer)[] = [...common(policy, nowMs, false), timestamp];
    const keys = [spentKey(policy.internId)];
    const id = Buffer.from(v1Id(), 'hex');
    let answer: Answer;
    if (nonce === undefined) {
      answer = await run.spend('spendV1', keys, [...args, id]);
    } else {
      args.push(Buffer.from(nonce, 'base64url'), id);
      if (mode === 'redeem') {
        keys.push(issuedKey(policy.internId, nonce));
        args.push(issuedValue(signingInput));
      }
      if (policy.answers !== undefined) {
        if (caller !== undefined) keys.push(answerKey(policy.internId, nonce));
        if (mode === 'spend') args.push('');
        args.push(caller ?? '', process);
      }
      answer = await run.spend(mode === 'spend' ? 'spendV2' : 'redeem', keys, args);
    }
    learn(policy.internId, answer);
    return requireSpent(answer);
  }

  const answers: AnswerStore = {
    keep(call, end) {
      const { policy, user, nonce } = call;
      const record = [user, process, callEnds.render(call, end)].join('\n');
      return run.replace(answerKey(policy.internId, nonce), record, ANSWER_SECONDS);
    },
    async ask(question) {
      const { policy, user, nonce, timestamp, nowMs } = question;
      if (unsafe !== undefined) throw unsafe;
      const keys = [spentKey(policy.internId), answerKey(policy.internId, nonce)];
      const args = [...common(policy, nowMs, false), timestamp, Buffer.from(nonce, 'base64url'), user];
      const answer = await run.spend('ask', keys, args);
      learn(policy.internId, answer);
      requireSafe(answer);
      if (answer.verdict === 'not_received') return 'not_received';
      return callEnds.parse(question, answer.outcome ?? '');
    },
  };

  redis.on('ready', attendance.touchQuietly);

  return {
    attach(policy) {
      if (mode === 'redeem' && policy.acceptV1) {
        throw new TypeError('acceptV1: a version 1 proof has no nonce to redeem');
      }
      attendance.attach(policy);
    },
    spend,
    answers,
    touch: attendance.touch,
    ready: attendance.ready,
    close() {
      attendance.close();
      redis.off('ready', attendance.touchQuietly);
    },
  };
}
