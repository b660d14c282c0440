import type { Variant } from '../variants.ts';

const MEMORY = 'replay/memory/store.ts';

/** Guards of the memory store, and the verifier itself, each broken. */
export const MEMORY_VARIANTS: Readonly<Record<string, Variant>> = {
  'signature-first': {
    guard: 'order of signature and spend: a forged copy uses nothing up',
    store: 'memory',
    faults: ['stripped after the whole'],
    breaks: [
      {
        file: 'verifier.ts',
        guard: "await orUnavailable('keys_unavailable', () => requireSignature(claim, keys));",
        without: '',
      },
      {
        file: 'verifier.ts',
        guard: 'const proof = toVerifiedProof(claim, path);',
        without: 'await requireSignature(claim, keys); const proof = toVerifiedProof(claim, path);',
      },
    ],
  },
  'memory-boot-refusal': {
    guard: 'boot refusal: proofs older than the store are refused',
    store: 'memory',
    breaks: [
      {
        file: MEMORY,
        guard: 'requireAfter(Math.max(...fences), timestamp, seconds);',
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
        guard: 'createdSeconds(created, wallMs, uptimeMs) + policy.clockToleranceSeconds',
        without: 'createdSeconds(created, wallMs, uptimeMs) - 1',
      },
    ],
  },
  'memory-high-water': {
    guard: 'high-water mark: what was forgotten stays refused if the clock goes back',
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
