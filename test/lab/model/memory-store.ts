import { type Configuration, RETENTION, TOLERANCE } from './configuration.ts';
import { entry, type Ledger, type Memory, replaced, withIds } from './state.ts';

export const EMPTY_LEDGER: Ledger = { floor: -99, highest: -99, marksFrom: undefined, ids: {} };

export interface MemorySpend {
  readonly intern: number;
  readonly at: number;
  readonly nonce: number | undefined;
  readonly v1Id: string;
  readonly wall: number;
  readonly time: number;
}

/** The store of a new process, shared by its verifiers. */
export function createMemory(
  { interns, verifiers }: Configuration,
  born: { wall: number; time: number },
): Memory {
  const ledgers = Array.from({ length: interns }, (_, intern) => {
    const acceptsV1 = verifiers.some((verifier) => verifier.intern === intern && verifier.acceptV1);
    return { ...EMPTY_LEDGER, marksFrom: acceptsV1 ? EMPTY_LEDGER.highest : undefined };
  });
  return { born, ledgers };
}

/** Spends atomically: nothing happens between request and answer. */
export function spendInMemory(
  configuration: Configuration,
  memory: Memory,
  { intern, at, nonce, v1Id, wall, time }: MemorySpend,
): { memory: Memory; verdict: string } {
  const { broken, entriesMax } = configuration;
  const where = broken.has('interns-share-a-ledger') ? 0 : intern;
  const nowSaid = wall - (time - memory.born.time);
  const born = broken.has('birth-as-said-then') ? memory.born.wall : Math.max(nowSaid, memory.born.wall);
  if (at > wall + TOLERANCE) return { memory, verdict: 'proof_not_yet_valid' };

  const horizon = wall - RETENTION;
  let ledger = forget(configuration, entry(memory.ledgers, where), horizon);
  const say = (verdict: string) => ({
    memory: { ...memory, ledgers: replaced(memory.ledgers, where, ledger) },
    verdict,
  });
  if (at <= ledger.floor || at <= horizon) return say('proof_expired');
  if (at <= born + TOLERANCE && !broken.has('no-birth-refusal')) return say('proof_before_fence');
  if (nonce === undefined) {
    ledger = { ...ledger, marksFrom: ledger.marksFrom ?? ledger.highest };
    if (at <= (ledger.marksFrom ?? 0)) return say('proof_before_fence');
  }
  const { conflicting, recorded } = idsOf(configuration, nonce, v1Id, ledger.marksFrom !== undefined);
  if (conflicting.some((id) => id in ledger.ids)) return say('nonce_replayed');
  const entries = [...memory.ledgers.keys()]
    .map((index) => (index === where ? ledger : entry(memory.ledgers, index)))
    .reduce((sum, { ids }) => sum + Object.keys(ids).length, 0);
  if (entries + recorded.length > entriesMax) {
    if (!broken.has('cap-evicts')) return say('replay_store_full');
    const oldest = Object.entries(ledger.ids).sort(([, a], [, b]) => a - b);
    ledger = { ...ledger, ids: Object.fromEntries(oldest.slice(recorded.length)) };
  }
  ledger = {
    ...ledger,
    highest: Math.max(ledger.highest, at),
    ids: withIds(ledger.ids, recorded, at),
  };
  return say('accepted');
}

function forget({ broken }: Configuration, ledger: Ledger, horizon: number): Ledger {
  const ids = Object.fromEntries(Object.entries(ledger.ids).filter(([, at]) => at > horizon));
  const forgotten = Object.values(ledger.ids).filter((at) => at <= horizon);
  if (forgotten.length === 0) return ledger;
  const floor = broken.has('no-high-water-mark') ? ledger.floor : Math.max(ledger.floor, ...forgotten);
  return { ...ledger, floor, ids };
}

function idsOf(
  { broken }: Configuration,
  nonce: number | undefined,
  v1Id: string,
  isMarking: boolean,
): { conflicting: string[]; recorded: string[] } {
  const v1 = `1${v1Id}`;
  const mark = `m${v1Id}`;
  if (nonce === undefined) {
    return { conflicting: [v1, mark], recorded: broken.has('v1-not-spent') ? [] : [v1] };
  }
  const v2 = `2${nonce}`;
  if (!isMarking) return { conflicting: [v2], recorded: [v2] };
  return {
    conflicting: broken.has('v2-not-burned-with-v1') ? [v2] : [v2, v1],
    recorded: broken.has('v1-not-burned-with-v2') ? [v2] : [v2, mark],
  };
}
