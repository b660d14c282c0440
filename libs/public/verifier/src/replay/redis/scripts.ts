import {
  LIFE_SECONDS,
  QUESTION_SECONDS_MAX,
  RUNNING_SECONDS_MAX,
  TOLERANCE_SECONDS_MAX,
} from '../replay-store.ts';

/**
 * The start of every script: checks the server, then updates the fence. KEYS[1] is the intern's sorted set. The score of a spent id is
 * its proof's timestamp. Marks about the set itself have negative scores, minus a time in seconds, so that a range from zero up never
 * includes them: `fence:<replication id>` (what was spent up to then may have been lost), `floor` (ids up to then were forgotten),
 * `v1` (version 1 ids are recorded since) and `unrecorded` (the latest timestamp of a call whose answer is not kept). A proof may be
 * stamped ahead of a fence or of `v1` by the tolerance of its verifier. They share one key with the ids, so that losing the ids also
 * loses the fence.
 * `alive:<process>` is the last sign of life of a process that keeps answers.
 */
const OPEN = `
local spent = KEYS[1]
local verifier_now, newest_fence = tonumber(ARGV[1]), tonumber(ARGV[2])
local retention, tolerance = tonumber(ARGV[3]), tonumber(ARGV[4])
local replicas_min, policy_check = tonumber(ARGV[5]), ARGV[6]

local function field(info, name) return string.match(info, '\\n' .. name .. ':([^\\r\\n]*)') end

local replication = redis.call('INFO', 'replication')
if field(replication, 'role') ~= 'master' then return {'unsafe', 'the server is not a primary'} end
local failover = field(replication, 'master_failover_state')
if failover and failover ~= 'no-failover' then return {'unsafe', 'a failover is under way'} end
local fresh = 0
for state, lag in string.gmatch(replication, '\\nslave%d+:[^\\r\\n]*state=(%a+)[^\\r\\n]*lag=(%d+)') do
  if state == 'online' and tonumber(lag) <= 2 then fresh = fresh + 1 end
end
if fresh < replicas_min then return {'unsafe', 'too few fresh replicas: ' .. fresh} end
if policy_check == '1' then
  local policy = field(redis.call('INFO', 'memory'), 'maxmemory_policy')
  if policy ~= 'noeviction' then return {'unsafe', 'maxmemory-policy is not noeviction'} end
end

local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
if math.abs(now - verifier_now) > math.max(tolerance, 1) then return {'unsafe', 'the clocks are apart'} end
local latest = math.max(now, verifier_now)

local function text(seconds) return string.format('%.6f', seconds) end
local function mark(name)
  local score = redis.call('ZSCORE', spent, name)
  return score and -tonumber(score)
end
local function set_mark(name, seconds) redis.call('ZADD', spent, text(-seconds), name) end
local function record_v1()
  if mark('v1') then return end
  local ahead = redis.call('ZRANGEBYSCORE', spent, text(latest), '+inf', 'WITHSCORES')
  set_mark('v1', tonumber(ahead[#ahead] or latest))
end
local function unrecorded(timestamp)
  if timestamp > (mark('unrecorded') or -1) then set_mark('unrecorded', timestamp) end
end

local fence_name = 'fence:' .. field(replication, 'master_replid')
local fence = mark(fence_name)
if not fence or fence < newest_fence then
  fence = math.max(latest, newest_fence + 0.001)
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', spent, '-inf', '(0')) do
    if string.sub(name, 1, 6) == 'fence:' then
      fence = math.max(fence, mark(name) + 0.001)
      redis.call('ZREM', spent, name)
    end
  end
  set_mark(fence_name, fence)
end
`;

/** Writes the fence without spending anything. ARGV[7] is '1' if version 1 proofs are accepted, ARGV[8] a process that keeps answers. */
const TOUCH = `${OPEN}
if ARGV[7] == '1' then record_v1() end
if ARGV[8] ~= '' then
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', spent, '-inf', '(0')) do
    if string.sub(name, 1, 6) == 'alive:' and now - mark(name) > ${RUNNING_SECONDS_MAX} then redis.call('ZREM', spent, name) end
  end
  set_mark('alive:' .. ARGV[8], now)
end
return {'touched', text(fence)}
`;

/**
 * Checks the proof's timestamp, ARGV[7], against the fence, the floor and the server's clock. The first version 1 proof starts the
 * recording, and it and all earlier ones are refused.
 */
const judge = (version: 1 | 2): string => `
local version_1 = ${version === 1}
local timestamp = tonumber(ARGV[7])
if timestamp > now + tolerance then return {'not_yet_valid', text(fence)} end
local horizon = math.floor(now - retention)
if timestamp <= horizon or timestamp <= (mark('floor') or -1) then return {'expired', text(fence)} end
local since = fence
if version_1 then
  record_v1()
  since = math.max(since, mark('v1'))
end
local bound = math.ceil(since + tolerance)
if timestamp <= bound then return {'before_fence', text(fence), math.max(1, math.ceil(bound + 1 - now))} end
`;

/**
 * Forgets a few expired ids. It raises the floor first, so that a forgotten id is never accepted as new, and only to the latest of
 * them: clocks that are briefly ahead must not cause later proofs to be refused.
 */
const FORGET = `
local forgotten = redis.call('ZRANGEBYSCORE', spent, 0, horizon, 'LIMIT', 0, 64)
if #forgotten > 0 then
  local latest_forgotten = tonumber(redis.call('ZSCORE', spent, forgotten[#forgotten]))
  if latest_forgotten > (mark('floor') or -1) then set_mark('floor', latest_forgotten) end
  redis.call('ZREM', spent, unpack(forgotten))
end
`;

/**
 * Version 2: ARGV[8] is the 16 bytes of the nonce, ARGV[9] the 32 bytes of the version 1 id. ARGV[11] is absent for a verifier that keeps
 * no answers, and empty for a question. Otherwise it is the person, ARGV[12] this process, and the last key the record of the call.
 */
const SPEND_V2 = `
local v1_id = ARGV[9]
if mark('v1') and redis.call('ZSCORE', spent, '1' .. v1_id) then return {'replayed', text(fence)} end
if redis.call('ZADD', spent, 'NX', timestamp, '2' .. ARGV[8]) == 0 then return {'replayed', text(fence)} end
if mark('v1') then redis.call('ZADD', spent, 'NX', timestamp, 'm' .. v1_id) end
if not ARGV[11] then
  unrecorded(timestamp)
elseif ARGV[11] ~= '' then
  redis.call('SET', KEYS[#KEYS], ARGV[11] .. '\\n' .. ARGV[12] .. '\\nrunning', 'EX', ${RUNNING_SECONDS_MAX})
  set_mark('alive:' .. ARGV[12], now)
end
return {'spent', text(fence)}
`;

/**
 * Answers a question: ARGV[7] is the time when it was signed, ARGV[8] the 16 bytes of the nonce that it asks about, ARGV[9] the person.
 * KEYS[2] is the record of that call. An unknown nonce is spent, as late as a proof could be that any verifier accepts, and marked by `x`.
 */
const ASK = `${OPEN}
local record = redis.call('GET', KEYS[2])
if record then
  local person, process, outcome = string.match(record, '^([^\\n]*)\\n([^\\n]*)\\n(.*)$')
  if person ~= ARGV[9] then return {'not_received', text(fence)} end
  local seen = mark('alive:' .. process)
  if outcome == 'running' and not (seen and now - seen <= ${LIFE_SECONDS}) then outcome = 'lost' end
  return {'recorded', text(fence), outcome}
end
local known = redis.call('ZSCORE', spent, 'x' .. ARGV[8])
if not known then
  local latest_timestamp = math.ceil(now) + ${TOLERANCE_SECONDS_MAX}
  if redis.call('ZADD', spent, 'NX', latest_timestamp, '2' .. ARGV[8]) == 0 then return {'recorded', text(fence), 'lost'} end
  redis.call('ZADD', spent, 'NX', latest_timestamp, 'x' .. ARGV[8])
end
local since = math.max(fence + tolerance, mark('unrecorded') or -1)
if mark('v1') or tonumber(ARGV[7]) - ${QUESTION_SECONDS_MAX} <= since then return {'recorded', text(fence), 'lost'} end
return {'not_received', text(fence)}
`;

/** Version 1: ARGV[8] is the 32 bytes of its id. */
const SPEND_V1 = `
if redis.call('ZSCORE', spent, 'm' .. ARGV[8]) then return {'replayed', text(fence)} end
if redis.call('ZADD', spent, 'NX', timestamp, '1' .. ARGV[8]) == 0 then return {'replayed', text(fence)} end
unrecorded(timestamp)
return {'spent', text(fence)}
`;

/** KEYS[2] is the signer's reservation; its value must be ARGV[10], the SHA-256 of the signing input. */
const REQUIRE_ISSUED = `
if redis.call('GET', KEYS[2]) ~= ARGV[10] then return {'not_issued', text(fence)} end
`;

/** The scripts of the Redis store by name. The signer loads them for daemons that may only call EVALSHA. */
export const REDIS_SCRIPTS: Readonly<Record<RedisScriptName, string>> = {
  touch: TOUCH,
  spendV1: `${OPEN}${judge(1)}${FORGET}${SPEND_V1}`,
  spendV2: `${OPEN}${judge(2)}${FORGET}${SPEND_V2}`,
  redeem: `${OPEN}${judge(2)}${REQUIRE_ISSUED}${FORGET}${SPEND_V2}`,
  ask: ASK,
};

export type RedisScriptName = 'touch' | 'spendV1' | 'spendV2' | 'redeem' | 'ask';
