import { drawEpoch } from '@ori/identity/dpop/nonces';
import {
  PROOF_KEPT_SECONDS,
  type SpendableProof,
  type Spending,
  type SpentProofs,
} from '@ori/identity/dpop/spent-proofs';
import type { RedisClient } from '@ori/redis/connection';
import type { EvictionWatch } from '@ori/redis/eviction';
import { EPOCH_LUA } from '@ori/turns/epoch';
import type { Claims } from '@ori/turns/store';
import { DependencyError } from '../core/dependency-error.ts';

/** Where used DPoP proofs are stored. */
export interface ProofStore extends SpentProofs {
  /** A spent proof as Redis stores it; absent if they are not in Redis. */
  claimOf?(proof: SpendableProof): NonNullable<Claims['first']>;
}

// The braces keep all of them, and their epoch, in one slot of a Redis Cluster.
const PREFIX = 'ori:dpop:{spent}:';
const EPOCH_KEY = `${PREFIX}epoch`;

/** ARGV: the epoch that begins if there is none. */
const LEARN_SCRIPT = `${EPOCH_LUA}
local run, epoch = run_and_epoch(KEYS[1])
if epoch then return epoch end
redis.call('set', KEYS[1], run .. ' ' .. ARGV[1])
return ARGV[1]
`;

/** KEYS: the epoch's and the proof's; ARGV: the expected epoch, the times, milliseconds. */
const SPEND_SCRIPT = `${EPOCH_LUA}
if not is_epoch(KEYS[1], ARGV[1]) or not is_between(ARGV[2], ARGV[3]) then return 'forgotten' end
return redis.call('set', KEYS[2], '', 'PX', ARGV[4], 'NX') and 'spent' or 'replayed'
`;

interface Commands {
  oriDpopEpoch(key: string, fresh: string): Promise<unknown>;
  oriDpopSpend(...keysAndValues: (string | number)[]): Promise<unknown>;
}

/** Remembers used DPoP proofs for all signers: one script each, never repeated, refused while Redis may evict keys. */
export function redisSpentProofs(redis: RedisClient, eviction?: EvictionWatch): ProofStore {
  const scripted = redis as RedisClient & Commands;
  scripted.defineCommand('oriDpopEpoch', { numberOfKeys: 1, lua: LEARN_SCRIPT });
  scripted.defineCommand('oriDpopSpend', { numberOfKeys: 2, lua: SPEND_SCRIPT });
  const keptMs = PROOF_KEPT_SECONDS * 1000;
  let known: string | undefined;
  // A Redis that was restarted has another epoch, and a signer that only issues nonces would never hear of it.
  redis.on('ready', () => {
    known = undefined;
  });

  async function ask<T>(
    command: () => Promise<unknown>,
    isReply: (reply: unknown) => reply is T,
  ): Promise<T> {
    try {
      if (eviction !== undefined && !eviction.isSafe) await eviction.require();
      const reply = await command();
      if (isReply(reply)) return reply;
      throw new TypeError('unexpected reply of the script');
    } catch (cause) {
      throw new DependencyError('redis', 'the DPoP proof could not be spent', { cause });
    }
  }

  return {
    epoch: () => known,
    async learn() {
      known = await ask(() => scripted.oriDpopEpoch(EPOCH_KEY, drawEpoch()), isEpoch);
    },
    claimOf: ({ id, epoch, from, until }) => ({
      key: PREFIX + id,
      value: '',
      keptMs,
      epoch: { key: EPOCH_KEY, expected: epoch, from, until },
    }),
    spend: ({ id, epoch, from, until }) =>
      ask(() => scripted.oriDpopSpend(EPOCH_KEY, PREFIX + id, epoch, from, until, keptMs), isSpending),
  };
}

const isEpoch = (reply: unknown): reply is string => typeof reply === 'string';
const isSpending = (reply: unknown): reply is Spending =>
  reply === 'spent' || reply === 'replayed' || reply === 'forgotten';
