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
import { type Answer, type Argument, createScriptRunner } from './script-runner.ts';
import { together } from './together.ts';

/** How many spends one script makes; a full one takes Redis a few tenths of a millisecond. */
const TOGETHER_MAX = 64;

interface PlainSpend {
  readonly nowMs: number;
  readonly proof: readonly Argument[];
}

/** Options of `redisReplayStore`. */
export interface RedisReplayStoreOptions extends SharedReplayStoreOptions {
  /**
   * `spend`: accept each nonce once. `redeem`: the signer, which shares this Redis, must also have reserved it. Version 1 proofs
   * have no nonce, so `acceptV1` is then a TypeError.
   */
  mode: 'spend' | 'redeem';
}

/**
 * Remembers spent proofs in Redis, for any number of processes. A spend is one script, alone or with those of the same turn of the
 * event loop, which refuses unless the server is a primary with enough replicas in sync, its clock agrees, and nothing was lost
 * since the last spend: after a restart, a failover or a flush, every proof issued up to then is refused (`proof_before_fence`). A spend without an answer counts as spent and is never
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
    const answer = await run.touch([spentKey(policy.internId)], args);
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

  async function send(
    policy: ReplayPolicy,
    ...asked: Parameters<typeof run.spend>
  ): ReturnType<typeof run.spend> {
    const answers = await run.spend(...asked);
    for (const answer of answers) learn(policy.internId, answer);
    return answers;
  }

  /** Spends of one turn of the event loop that need no other key go as one script, which checks the server once. */
  const spendTogether = together(
    TOGETHER_MAX,
    async (policy: ReplayPolicy, spends: readonly PlainSpend[]) => {
      const args = common(policy, Math.max(...spends.map(({ nowMs }) => nowMs)), false);
      const script = spends.length === 1 ? 'spendV2' : 'spendMany';
      const proofs = spends.flatMap(({ proof }) => proof);
      const answers = await send(policy, script, [spentKey(policy.internId)], [...args, ...proofs]);
      if (answers.length === spends.length) return answers;
      requireSafe(answers[0]);
      throw new UnavailableError('replay_store_unavailable', 'unexpected answer of the store');
    },
  );

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
    const v1 = Buffer.from(v1Id(), 'hex');
    const keys = [spentKey(policy.internId)];
    if (nonce === undefined) {
      const args = [...common(policy, nowMs, false), timestamp, v1];
      const [answer] = await send(policy, 'spendV1', keys, args);
      return requireSpent(answer);
    }
    const proof = [timestamp, Buffer.from(nonce, 'base64url'), v1];
    if (mode === 'spend' && policy.answers === undefined) {
      return requireSpent(await spendTogether(policy, { proof, nowMs }));
    }
    const args = [...common(policy, nowMs, false), ...proof];
    if (mode === 'redeem') keys.push(issuedKey(policy.internId, nonce));
    args.push(mode === 'redeem' ? issuedValue(signingInput) : '');
    if (policy.answers !== undefined) {
      if (caller !== undefined) keys.push(answerKey(policy.internId, nonce));
      args.push(caller ?? '', process);
    }
    const [answer] = await send(policy, mode === 'spend' ? 'spendV2' : 'redeem', keys, args);
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
      const [answer] = await send(policy, 'ask', keys, args);
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
