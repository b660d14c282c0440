import type { Variants } from '../variants.ts';

const SCRIPTS = 'replay/redis/scripts.ts';
const REDIS = 'replay/redis/store.ts';

/** Guards of the Redis store, each broken. */
export const REDIS_VARIANTS: Variants = {
  'redis-fence': {
    guard: 'fence: proofs from before a loss are refused',
    breaks: [[SCRIPTS, 'if timestamp <= math.ceil(fence) then return before(fence) end', '']],
  },
  'redis-fence-tolerance': {
    guard: 'clock tolerance in the fence: a proof stamped ahead lives on past the event',
    faults: ['FLUSHALL'],
    breaks: [
      [SCRIPTS, 'math.max(latest + tolerance, newest_fence', 'math.max(latest, newest_fence'],
      [SCRIPTS, 'timestamp <= math.ceil(fence)', 'timestamp <= math.floor(fence)'],
    ],
  },
  'redis-empty-store': {
    guard: 'boot refusal: an emptied store, or a new one, starts with a fence',
    faults: ['FLUSHALL'],
    breaks: [[SCRIPTS, 'math.max(latest + tolerance, newest_fence + 0.001)', 'newest_fence + 0.001']],
  },
  'redis-floor': {
    guard: 'floor: what was forgotten stays refused, also by a verifier that accepts its age',
    faults: ['spends forgotten early'],
    breaks: [[SCRIPTS, " or timestamp <= (mark('floor') or -1)", '']],
  },
  'redis-identity': {
    guard: 'the fence is of one replication id',
    faults: ['replication id changed', 'killed, old file', 'lagging replica promoted', 'killed, with AOF'],
    breaks: [[SCRIPTS, "'fence:' .. field(replication, 'master_replid')", "'fence:any'"]],
  },
  'redis-newest-fence': {
    guard: 'a fence older than the newest one seen is no fence',
    faults: ['SWAPDB'],
    breaks: [[SCRIPTS, 'if not fence or fence < newest_fence then', 'if not fence then']],
  },
  'redis-policy': {
    guard: 'policy check: no spend under an evicting policy',
    faults: ['policy changed'],
    breaks: [[SCRIPTS, "if policy ~= 'noeviction' then", "if policy == 'none' then"]],
  },
  'redis-boot-refusal': {
    guard: 'boot refusal: what a look found unsafe is not used',
    faults: ['policy changed'],
    breaks: [
      [
        REDIS,
        "if (error instanceof UnavailableError && error.code === 'replay_store_unsafe') unsafe = error;",
        '',
      ],
    ],
  },
  'redis-clocks': {
    guard: 'clocks apart: the server does not work with a verifier whose clock is wrong',
    faults: ['clock forward 300 s', 'clock back 300 s'],
    breaks: [[SCRIPTS, 'if math.abs(now - verifier_now) > math.max(tolerance, 1) then', 'if false then']],
  },
  'redis-wait': {
    guard: 'WAIT: a spend counts when a replica has it',
    faults: ['lagging replica promoted', 'replica frozen'],
    breaks: [['replay/redis/script-runner.ts', 'replicasMin === 0 ? call : callAndWait', 'call']],
  },
  'redis-replicas-before': {
    guard: 'replicas before: no write without fresh replicas',
    faults: ['split brain, third changes sides'],
    breaks: [[SCRIPTS, 'if fresh < replicas_min then', 'if false then']],
  },
  'redis-v1-burn': {
    guard: 'v1 burn: a version 2 spend uses its version 1 copy up',
    faults: ['stripped after the whole'],
    breaks: [
      [SCRIPTS, "if mark('v1') then redis.call('ZADD', spent, 'NX', timestamp, 'm' .. v1_id) end", ''],
    ],
  },
  'redis-v1-first': {
    guard: 'v1 burn: a version 1 spend uses the whole proof up',
    faults: ['stripped before the whole'],
    breaks: [
      [
        SCRIPTS,
        "if mark('v1') and redis.call('ZSCORE', spent, '1' .. v1_id) then return {'replayed', text(fence)} end",
        '',
      ],
    ],
  },
  'redis-v1-fence': {
    guard: 'v1 burn: nothing from before the recording began',
    faults: ['stripped after the whole'],
    breaks: [[SCRIPTS, "if timestamp <= math.ceil(mark('v1')) then return before(mark('v1')) end", '']],
  },
};
