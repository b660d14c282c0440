import { drawEpoch } from '@ori/identity/dpop/nonces';
import { PROOF_KEPT_SECONDS, type SpendableProof, type SpentProofs } from '@ori/identity/dpop/spent-proofs';
import { EPOCH_LUA } from '@ori/turns/epoch';
import type { RedisClient } from '@ori/turns/redis';
import type { EvictionWatch } from '@ori/turns/redis/eviction';
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

/** Without a second key it only returns the epoch. ARGV: the expected epoch, a fresh one, milliseconds, the times. */
const SPEND_SCRIPT = `${EPOCH_LUA}
local epoch = epoch_of(KEYS[1], ARGV[2])
if not KEYS[2] then return { 'told', epoch } end
if ARGV[1] ~= epoch then return { 'forgotten', epoch } end
if not is_between(ARGV[4], ARGV[5]) then return { 'forgotten', epoch } end
if not redis.call('set', KEYS[2], '', 'PX', ARGV[3], 'NX') then return { 'replayed', epoch } end
return { 'spent', epoch }
`;

interface SpendCommand {
  oriDpopSpend(keys: number, ...rest: (string | number)[]): Promise<unknown>;
}

/** Remembers used DPoP proofs for all signers: one script each, never repeated, refused while Redis may evict keys. */
export function redisSpentProofs(redis: RedisClient, eviction?: EvictionWatch): ProofStore {
  const scripted = redis as RedisClient & SpendCommand;
  scripted.defineCommand('oriDpopSpend', { lua: SPEND_SCRIPT });
  const keptMs = PROOF_KEPT_SECONDS * 1000;
  let known: string | undefined;

  async function run(
    keys: readonly string[],
    expected = '',
    times: readonly number[] = [],
  ): Promise<unknown> {
    try {
      if (eviction !== undefined && !eviction.isSafe) await eviction.require();
      const answer = await scripted.oriDpopSpend(
        keys.length,
        ...keys,
        expected,
        drawEpoch(),
        keptMs,
        ...times,
      );
      if (!Array.isArray(answer) || typeof answer[1] !== 'string')
        throw new TypeError('unexpected reply of the script');
      known = answer[1];
      return answer[0];
    } catch (cause) {
      throw new DependencyError('redis', 'the DPoP proof could not be spent', { cause });
    }
  }

  return {
    epoch: () => known,
    async learn() {
      await run([EPOCH_KEY]);
    },
    claimOf: ({ id, epoch, from, until }) => ({
      key: PREFIX + id,
      value: '',
      keptMs,
      epoch: { key: EPOCH_KEY, expected: epoch, fresh: drawEpoch(), from, until },
    }),
    async spend({ id, epoch, from, until }) {
      const outcome = await run([EPOCH_KEY, PREFIX + id], epoch, [from, until]);
      if (outcome === 'spent' || outcome === 'replayed' || outcome === 'forgotten') return outcome;
      throw new DependencyError('redis', 'the DPoP proof could not be spent');
    },
  };
}
