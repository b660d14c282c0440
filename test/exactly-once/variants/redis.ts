import type { Variant } from '../variants.ts';

const SCRIPTS = 'replay/redis/scripts.ts';
const REDIS = 'replay/redis/store.ts';

/** Guards of the Redis store, each broken. */
export const REDIS_VARIANTS: Readonly<Record<string, Variant>> = {
  'redis-fence': {
    guard: 'fence: proofs from before a loss are refused',
    store: 'redis',
    breaks: [
      { file: SCRIPTS, guard: 'if timestamp <= math.ceil(fence) then return before(fence) end', without: '' },
    ],
  },
  'redis-fence-tolerance': {
    guard: 'clock tolerance in the fence: a proof stamped ahead lives on past the event',
    store: 'redis',
    faults: ['FLUSHALL'],
    breaks: [
      {
        file: SCRIPTS,
        guard: 'math.max(latest + tolerance, newest_fence',
        without: 'math.max(latest, newest_fence',
      },
      { file: SCRIPTS, guard: 'timestamp <= math.ceil(fence)', without: 'timestamp <= math.floor(fence)' },
    ],
  },
  'redis-empty-store': {
    guard: 'boot refusal: an emptied store, or a new one, starts with a fence',
    store: 'redis',
    faults: ['FLUSHALL'],
    breaks: [
      {
        file: SCRIPTS,
        guard: 'math.max(latest + tolerance, newest_fence + 0.001)',
        without: 'newest_fence + 0.001',
      },
    ],
  },
  'redis-floor': {
    guard: 'floor: what was forgotten stays refused, also by a verifier that accepts its age',
    store: 'redis',
    faults: ['spends forgotten early'],
    breaks: [{ file: SCRIPTS, guard: " or timestamp <= (mark('floor') or -1)", without: '' }],
  },
  'redis-identity': {
    guard: 'the fence is of one replication id',
    store: 'redis',
    faults: ['replication id changed', 'killed, old file', 'lagging replica promoted', 'killed, with AOF'],
    breaks: [
      { file: SCRIPTS, guard: "'fence:' .. field(replication, 'master_replid')", without: "'fence:any'" },
    ],
  },
  'redis-newest-fence': {
    guard: 'a fence older than the newest one seen is no fence',
    store: 'redis',
    faults: ['SWAPDB'],
    breaks: [
      { file: SCRIPTS, guard: 'if not fence or fence < newest_fence then', without: 'if not fence then' },
    ],
  },
  'redis-policy': {
    guard: 'policy check: no spend under an evicting policy',
    store: 'redis',
    faults: ['policy changed'],
    breaks: [{ file: SCRIPTS, guard: "if policy ~= 'noeviction' then", without: "if policy == 'none' then" }],
  },
  'redis-boot-refusal': {
    guard: 'boot refusal: what a look found unsafe is not used',
    store: 'redis',
    faults: ['policy changed'],
    breaks: [
      {
        file: REDIS,
        guard:
          "if (error instanceof UnavailableError && error.code === 'replay_store_unsafe') unsafe = error;",
        without: '',
      },
    ],
  },
  'redis-clocks': {
    guard: 'clocks apart: the server does not work with a verifier whose clock is wrong',
    store: 'redis',
    faults: ['clock forward 300 s', 'clock back 300 s'],
    breaks: [
      {
        file: SCRIPTS,
        guard: 'if math.abs(now - verifier_now) > math.max(tolerance, 1) then',
        without: 'if false then',
      },
    ],
  },
  'redis-wait': {
    guard: 'WAIT: a spend counts when a replica has it',
    store: 'redis',
    faults: ['lagging replica promoted', 'replica frozen'],
    breaks: [
      {
        file: 'replay/redis/script-runner.ts',
        guard: 'replicasMin === 0 ? call : callAndWait',
        without: 'call',
      },
    ],
  },
  'redis-replicas-before': {
    guard: 'replicas before: no write without fresh replicas',
    store: 'redis',
    faults: ['split brain, third changes sides'],
    breaks: [{ file: SCRIPTS, guard: 'if fresh < replicas_min then', without: 'if false then' }],
  },
  'redis-v1-burn': {
    guard: 'v1 burn: a version 2 spend uses its version 1 copy up',
    store: 'redis',
    faults: ['stripped after the whole'],
    breaks: [
      {
        file: SCRIPTS,
        guard: "if mark('v1') then redis.call('ZADD', spent, 'NX', timestamp, 'm' .. v1_id) end",
        without: '',
      },
    ],
  },
  'redis-v1-first': {
    guard: 'v1 burn: a version 1 spend uses the whole proof up',
    store: 'redis',
    faults: ['stripped before the whole'],
    breaks: [
      {
        file: SCRIPTS,
        guard:
          "if mark('v1') and redis.call('ZSCORE', spent, '1' .. v1_id) then return {'replayed', text(fence)} end",
        without: '',
      },
    ],
  },
  'redis-v1-fence': {
    guard: 'v1 burn: nothing from before the recording began',
    store: 'redis',
    faults: ['stripped after the whole'],
    breaks: [
      {
        file: SCRIPTS,
        guard: "if timestamp <= math.ceil(mark('v1')) then return before(mark('v1')) end",
        without: '',
      },
    ],
  },
};
