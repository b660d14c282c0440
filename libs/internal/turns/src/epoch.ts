/**
 * Where a Redis may have lost what was claimed in it. An epoch is a random text beside the run id of the server that it was
 * drawn on: a flush loses both, and after a restart, from a file too, or a failover, the run id differs. Then a new epoch
 * begins.
 */
export interface Epoch {
  /** In the same Redis, and in a Cluster the same slot, as what is claimed. */
  readonly key: string;
  /** The one that a claim is for; with any other, nothing is claimed. */
  readonly expected: string;
  /** The new one, if a new one begins. */
  readonly fresh: string;
}

/** A function for scripts: the epoch of a key, drawn if there is none. The Redis user needs `INFO`. */
export const EPOCH_LUA = `
local function epoch_of(key, fresh)
  local run = string.match(redis.call('info', 'server'), 'run_id:(%x+)')
  local known = redis.call('get', key)
  if known and string.sub(known, 1, #run + 1) == run .. ' ' then return string.sub(known, #run + 2) end
  redis.call('set', key, run .. ' ' .. fresh)
  return fresh
end
`;
