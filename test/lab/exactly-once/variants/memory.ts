import type { Variants } from '../variants.ts';

const MEMORY = 'replay/memory/store.ts';

/** Guards of the memory store, and the verifier itself, each broken. */
export const MEMORY_VARIANTS: Variants = {
  'signature-first': {
    guard: 'order of signature and spend: a forged copy uses nothing up',
    faults: ['stripped after the whole'],
    breaks: [
      ['verifier.ts', "await orUnavailable('keys_unavailable', () => requireSignature(claim, keys));", ''],
      [
        'verifier.ts',
        'const proof = toVerifiedProof(claim, path);',
        'await requireSignature(claim, keys); const proof = toVerifiedProof(claim, path);',
      ],
    ],
  },
  'memory-boot-refusal': {
    guard: 'boot refusal: proofs older than the store are refused',
    breaks: [[MEMORY, 'requireAfter(Math.max(...fences), timestamp, seconds);', '']],
  },
  'memory-clock-at-boot': {
    guard: 'boot refusal: also when the clock was set right since',
    faults: ['killed, started with the clock behind'],
    breaks: [
      [MEMORY, 'nowSaidMs > created.wallMs + DRIFT_MS ? nowSaidMs : created.wallMs', 'created.wallMs'],
    ],
  },
  'memory-boot-tolerance': {
    guard: 'clock tolerance in the fence of the memory store',
    breaks: [
      [
        MEMORY,
        // Once more below it is that of a question.
        'createdSeconds(created, wallMs, uptimeMs) + policy.clockToleranceSeconds;\n    const fences',
        'createdSeconds(created, wallMs, uptimeMs) - 1;\n    const fences',
      ],
    ],
  },
  'memory-high-water': {
    guard: 'high-water mark: what was forgotten stays refused if the clock goes back',
    faults: ['time passes, then the clock goes back'],
    breaks: [[MEMORY, 'timestamp <= ledger.floor || ', '']],
  },
  'memory-cap': {
    guard: 'cap: refuses rather than forgets',
    faults: ['cap flooded'],
    breaks: [
      [
        MEMORY,
        "throw new UnavailableError('replay_store_full',",
        "ledgers.clear(); entries = 0; void String('full',",
      ],
    ],
  },
  'memory-v1-burn': {
    guard: 'v1 burn in the memory store',
    faults: ['stripped after the whole'],
    breaks: [[MEMORY, 'const isMarking = ledger.marksFrom !== undefined;', 'const isMarking = false;']],
  },
};
