import { LIFE_SECONDS, QUESTION_SECONDS_MAX, RUNNING_SECONDS_MAX, TOLERANCE_SECONDS_MAX } from '../times.ts';

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
local replication = redis.call('INFO', 'replication')
local function has(line) return string.find(replication, line, 1, true) end
if not has('\\nrole:master\\r') then return {'unsafe', 'the server is not a primary'} end
if ARGV[5] ~= '0' then
  local fresh = 0
  for state, lag in string.gmatch(replication, '\\nslave%d+:[^\\r\\n]*state=(%a+)[^\\r\\n]*lag=(%d+)') do
    if state == 'online' and tonumber(lag) <= 2 then fresh = fresh + 1 end
  end
  if fresh < tonumber(ARGV[5]) then return {'unsafe', 'too few fresh replicas: ' .. fresh} end
end
if ARGV[6] == '1' then
  local policy = string.match(redis.call('INFO', 'memory'), '\\nmaxmemory_policy:([^\\r\\n]*)')
  if policy ~= 'noeviction' then return {'unsafe', 'maxmemory-policy is not noeviction'} end
end

local verifier_now, newest_fence, tolerance = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
if math.abs(now - verifier_now) > math.max(tolerance, 1) then return {'unsafe', 'the clocks are apart'} end

local function mark(name)
  local score = redis.call('ZSCORE', spent, name)
  return score and -score
end
local function set_mark(name, seconds) redis.call('ZADD', spent, string.format('%.6f', -seconds), name) end

local _, before_id = has('\\nmaster_replid:')
local fence_name = 'fence:' .. string.sub(replication, before_id + 1, before_id + 40)
local fence = mark(fence_name)
if not fence or fence < newest_fence then
  fence = math.max(now, verifier_now, newest_fence + 0.001)
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', spent, '-inf', '(0')) do
    if string.sub(name, 1, 6) == 'fence:' then
      fence = math.max(fence, mark(name) + 0.001)
      redis.call('ZREM', spent, name)
    end
  end
  set_mark(fence_name, fence)
end
local fence_text = fence == newest_fence and ARGV[2] or string.format('%.6f', fence)
`;

/** Version 1 ids are recorded from now on. */
const RECORD_V1 = `
if not mark('v1') then
  local latest = string.format('%.6f', math.max(now, verifier_now))
  local ahead = redis.call('ZRANGEBYSCORE', spent, latest, '+inf', 'WITHSCORES')
  set_mark('v1', ahead[#ahead] or latest)
end
`;

const UNRECORDED = `
if timestamp > (mark('unrecorded') or -1) then set_mark('unrecorded', timestamp) end
`;

/**
 * Forgets at most this many expired ids. It raises the floor first, so that a forgotten id is never accepted as new, and only to the
 * latest of them: clocks that are briefly ahead must not cause later proofs to be refused.
 */
const forget = (most: number): string => `
local horizon = math.floor(now - tonumber(ARGV[3]))
local forgotten = redis.call('ZRANGEBYSCORE', spent, 0, horizon, 'LIMIT', 0, ${most})
if #forgotten > 0 then
  local latest_forgotten = tonumber(redis.call('ZSCORE', spent, forgotten[#forgotten]))
  if latest_forgotten > (mark('floor') or -1) then set_mark('floor', latest_forgotten) end
  redis.call('ZREM', spent, unpack(forgotten))
end
`;

/** One spend in 16 forgets, by the first byte of the id, which is random. */
const FORGET_SOMETIMES = `if string.byte(id) < 16 then ${forget(64)} end
`;

/**
 * Writes the fence without spending anything, and forgets. A set that is not looked at for a day expires: what it held is older than
 * every retention, and the next fence refuses it. A user without EXPIRE keeps it.
 * ARGV[7] is '1' if version 1 proofs are accepted, ARGV[8] a process that keeps answers.
 */
const TOUCH = `${OPEN}
if ARGV[7] == '1' then ${RECORD_V1} end
if ARGV[8] ~= '' then
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', spent, '-inf', '(0')) do
    if string.sub(name, 1, 6) == 'alive:' and now - mark(name) > ${RUNNING_SECONDS_MAX} then redis.call('ZREM', spent, name) end
  end
  set_mark('alive:' .. ARGV[8], now)
end
${forget(1000)}
redis.pcall('EXPIRE', spent, 86400)
return {'touched', fence_text}
`;

/**
 * Checks the proof's timestamp, `stamp`, against the fence, the floor and the server's clock. The first version 1 proof starts the
 * recording, and it and all earlier ones are refused.
 */
const judge = (version: 1 | 2): string => `
local timestamp = tonumber(stamp)
if timestamp > now + tolerance then return {'not_yet_valid', fence_text} end
local horizon = math.floor(now - tonumber(ARGV[3]))
if timestamp <= horizon or timestamp <= (mark('floor') or -1) then return {'expired', fence_text} end
local since = fence
${version === 1 ? `${RECORD_V1}since = math.max(since, mark('v1'))` : ''}
local bound = math.ceil(since + tolerance)
if timestamp <= bound then return {'before_fence', fence_text, math.max(1, math.ceil(bound + 1 - now))} end
`;

/** Spends a version 2 proof: `id` is the 16 bytes of the nonce, `v1_id` the 32 bytes of the version 1 id. */
const SPEND_V2 = `
local marks_v1 = mark('v1')
if marks_v1 and redis.call('ZSCORE', spent, '1' .. v1_id) then return {'replayed', fence_text} end
if redis.call('ZADD', spent, 'NX', stamp, '2' .. id) == 0 then return {'replayed', fence_text} end
if marks_v1 then redis.call('ZADD', spent, 'NX', stamp, 'm' .. v1_id) end
`;

/** Looks each mark up once in a script, which nothing else runs beside. */
const REMEMBER_MARKS = `
local marks, read_mark, write_mark = {}, mark, set_mark
local function mark(name)
  if marks[name] == nil then marks[name] = read_mark(name) or false end
  return marks[name]
end
local function set_mark(name, seconds)
  marks[name] = seconds
  write_mark(name, seconds)
end
`;

/** ARGV[7], [8], [9], and so on by threes, are a version 2 proof each, of a verifier that keeps no answers. */
const SPEND_MANY = `${OPEN}${REMEMBER_MARKS}
local function spend(stamp, id, v1_id)
${judge(2)}${FORGET_SOMETIMES}${SPEND_V2}${UNRECORDED}return {'spent', fence_text}
end
local answers = {}
for first = 7, #ARGV, 3 do answers[#answers + 1] = spend(ARGV[first], ARGV[first + 1], ARGV[first + 2]) end
return answers
`;

const PROOF_V2 = `
local stamp, id, v1_id = ARGV[7], ARGV[8], ARGV[9]
`;

/**
 * ARGV[11] is absent for a verifier that keeps no answers, and empty for a question. Otherwise it is the person, ARGV[12] this process,
 * and the last key the record of the call.
 */
const RECORD_CALL = `
if not ARGV[11] then
  ${UNRECORDED}elseif ARGV[11] ~= '' then
  redis.call('SET', KEYS[#KEYS], ARGV[11] .. '\\n' .. ARGV[12] .. '\\nrunning', 'EX', ${RUNNING_SECONDS_MAX})
  set_mark('alive:' .. ARGV[12], now)
end
return {'spent', fence_text}
`;

/**
 * Answers a question: ARGV[7] is the time when it was signed, ARGV[8] the 16 bytes of the nonce that it asks about, ARGV[9] the person.
 * KEYS[2] is the record of that call; to others it is as if there were none. An unknown nonce is spent, as late as a proof could be that any
 * verifier accepts, and marked by `x`.
 */
const ASK = `${OPEN}
local function unknown()
  local since = math.max(fence + tolerance, mark('unrecorded') or -1)
  if mark('v1') or tonumber(ARGV[7]) - ${QUESTION_SECONDS_MAX} <= since then return {'recorded', fence_text, 'lost'} end
  return {'not_received', fence_text}
end
local record = redis.call('GET', KEYS[2])
if record then
  local person, process, outcome = string.match(record, '^([^\\n]*)\\n([^\\n]*)\\n(.*)$')
  if person ~= ARGV[9] then return unknown() end
  local seen = mark('alive:' .. process)
  if outcome == 'running' and not (seen and now - seen <= ${LIFE_SECONDS}) then outcome = 'lost' end
  return {'recorded', fence_text, outcome}
end
local known = redis.call('ZSCORE', spent, 'x' .. ARGV[8])
if not known then
  local latest_timestamp = math.ceil(now) + ${TOLERANCE_SECONDS_MAX}
  if redis.call('ZADD', spent, 'NX', latest_timestamp, '2' .. ARGV[8]) == 0 then return {'recorded', fence_text, 'lost'} end
  redis.call('ZADD', spent, 'NX', latest_timestamp, 'x' .. ARGV[8])
end
return unknown()
`;

/** Version 1: `id` is the 32 bytes of its id. */
const SPEND_V1 = `
if redis.call('ZSCORE', spent, 'm' .. id) then return {'replayed', fence_text} end
if redis.call('ZADD', spent, 'NX', stamp, '1' .. id) == 0 then return {'replayed', fence_text} end
${UNRECORDED}return {'spent', fence_text}
`;

/** KEYS[2] is the signer's reservation; its value must be ARGV[10], the SHA-256 of the signing input. */
const REQUIRE_ISSUED = `
if redis.call('GET', KEYS[2]) ~= ARGV[10] then return {'not_issued', fence_text} end
`;

/** The scripts of the Redis store by name. The signer loads them for daemons that may only call EVALSHA. */
export const REDIS_SCRIPTS: Readonly<Record<RedisScriptName, string>> = {
  touch: TOUCH,
  spendV1: `${OPEN}local stamp, id = ARGV[7], ARGV[8]${judge(1)}${FORGET_SOMETIMES}${SPEND_V1}`,
  spendV2: `${OPEN}${PROOF_V2}${judge(2)}${FORGET_SOMETIMES}${SPEND_V2}${RECORD_CALL}`,
  spendMany: SPEND_MANY,
  redeem: `${OPEN}${PROOF_V2}${judge(2)}${REQUIRE_ISSUED}${FORGET_SOMETIMES}${SPEND_V2}${RECORD_CALL}`,
  ask: ASK,
};

export type RedisScriptName = 'touch' | 'spendV1' | 'spendV2' | 'spendMany' | 'redeem' | 'ask';
