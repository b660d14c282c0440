import type { StoreName } from './repertoire.ts';

/** A guard of a store, and the library without it. */
export interface Variant {
  readonly guard: string;
  readonly store: StoreName;
  /** The faults that are staged, where the others say nothing about this guard. */
  readonly faults?: readonly string[];
  readonly breaks: readonly { readonly file: string; readonly guard: string; readonly without: string }[];
}

const SCRIPTS = 'redis-scripts.ts';
const REDIS = 'redis-replay-store.ts';
const MEMORY = 'memory-replay-store.ts';

/** Each guard of the stores, broken. The harness must find every one of them. */
export const VARIANTS: Readonly<Record<string, Variant>> = {
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
      { file: 'redis-script-runner.ts', guard: 'replicasMin === 0 ? call : callAndWait', without: 'call' },
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
  'signature-first': {
    guard: 'order of signature and spend: a forged copy uses nothing up',
    store: 'memory',
    faults: ['stripped after the whole'],
    breaks: [
      { file: 'verifier.ts', guard: 'await requireSignature(claim, keys);', without: '' },
      {
        file: 'verifier.ts',
        guard: 'v1Id: () => sha256Hex(signingInputV1(claim)) });',
        without: 'v1Id: () => sha256Hex(signingInputV1(claim)) }); await requireSignature(claim, keys);',
      },
    ],
  },
  'memory-boot-refusal': {
    guard: 'boot refusal: proofs older than the store are refused',
    store: 'memory',
    breaks: [
      {
        file: MEMORY,
        guard:
          'requireAfter(createdSeconds(wallMs, uptimeMs) + policy.clockToleranceSeconds, timestamp, seconds);',
        without: '',
      },
    ],
  },
  'memory-clock-at-boot': {
    guard: 'boot refusal: also when the clock was set right since',
    store: 'memory',
    faults: ['killed, started with the clock behind'],
    breaks: [
      {
        file: MEMORY,
        guard: 'nowSaidMs > created.wallMs + DRIFT_MS ? nowSaidMs : created.wallMs',
        without: 'created.wallMs',
      },
    ],
  },
  'memory-boot-tolerance': {
    guard: 'clock tolerance in the fence of the memory store',
    store: 'memory',
    breaks: [
      {
        file: MEMORY,
        guard: 'createdSeconds(wallMs, uptimeMs) + policy.clockToleranceSeconds',
        without: 'createdSeconds(wallMs, uptimeMs) - 1',
      },
    ],
  },
  'memory-high-water': {
    guard: 'high-water mark: what was forgotten stays refused when the clock goes back',
    store: 'memory',
    faults: ['time passes, then the clock goes back'],
    breaks: [{ file: MEMORY, guard: 'timestamp <= ledger.floor || ', without: '' }],
  },
  'memory-cap': {
    guard: 'cap: refuses rather than forgets',
    store: 'memory',
    faults: ['cap flooded'],
    breaks: [
      {
        file: MEMORY,
        guard: "throw new UnavailableError('replay_store_full',",
        without: "ledgers.clear(); entries = 0; void String('full',",
      },
    ],
  },
  'memory-v1-burn': {
    guard: 'v1 burn in the memory store',
    store: 'memory',
    faults: ['stripped after the whole'],
    breaks: [
      {
        file: MEMORY,
        guard: 'const isMarking = ledger.marksFrom !== undefined;',
        without: 'const isMarking = false;',
      },
    ],
  },
};
