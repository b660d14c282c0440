/**
 * Detects that a Redis may have lost claims. An epoch is a random string, stored with the run id of the server that
 * created it. A flush loses both; after a restart (even one that loads a file) or a failover the run id differs. A new
 * epoch then begins.
 */
export interface Epoch {
  /** In the same Redis as the claims; in a Cluster, in the same slot. */
  readonly key: string;
  /** The expected epoch of a claim. In any other, nothing is claimed. */
  readonly expected: string;
  /** Unix seconds: only between these, by the clock of Redis, is anything claimed. */
  readonly from: number;
  readonly until: number;
}

/**
 * Functions for scripts: the server's run id with its epoch, nil if none has begun; and the comparisons. The Redis user
 * needs `INFO` and `TIME`.
 */
export const EPOCH_LUA = `
local function run_and_epoch(key)
  local server = redis.call('info', 'server')
  local _, before_run = string.find(server, 'run_id:', 1, true)
  local run = string.sub(server, before_run + 1, before_run + 40)
  local known = redis.call('get', key)
  if known and string.sub(known, 1, #run + 1) == run .. ' ' then return run, string.sub(known, #run + 2) end
  return run, nil
end
local function is_epoch(key, expected)
  local _, epoch = run_and_epoch(key)
  return epoch == expected
end
local function is_between(from, to)
  local seconds = tonumber(redis.call('time')[1])
  return seconds >= tonumber(from) and seconds <= tonumber(to)
end
`;
