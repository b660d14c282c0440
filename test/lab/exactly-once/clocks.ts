import type { ReplayStore } from '../../../libs/public/verifier/src/replay/replay-store.ts';
import { CLOCKED_STORES, type ClockedStoreName } from './clocked-stores.ts';
import { createRandom } from './random.ts';

/** Seconds by which a clock may be wrong: within the tolerances, within the shortest memory, beyond the longest. */
const ERRORS = [0, 0, 0, 0.4, -0.4, 2, -2, 5, -5, 30, -30, 91, -91, 300, -300, 700, -700];
/** One memory for verifiers with different values (SPEC.md N3). */
const POLICIES = [
  { maxAgeSeconds: 60, clockToleranceSeconds: 2 },
  { maxAgeSeconds: 600, clockToleranceSeconds: 60 },
  { maxAgeSeconds: 1, clockToleranceSeconds: 0 },
].map((times) => ({ internId: 'int_1', acceptV1: true, ...times }));
/** Presented concurrently, at one time. */
const AT_ONCE = 32;
/** Of presentations, in true time. */
const STEP_SECONDS = 0.02;
/** Of presentations, on average. */
const STEP_EVERY = 500;
/** How often a clock steps apart from the others. */
const APART = 0.15;
/** The proofs that are still presented: 1,300 s of them. */
const RECORDED = 2 ** 15;
/** 100 s before PostgreSQL's next partition begins: the first can soon be forgotten. */
const START = 1_789_000_100;

/** What `spends` presentations came to. Of the fields, `twice` must be 0. */
export interface ClockRun {
  readonly spends: number;
  readonly proofs: number;
  readonly accepted: number;
  readonly steps: number;
  /** Proofs that were accepted twice, in any form. */
  readonly twice: number;
}

/**
 * Presents proofs and their copies, half of them each, to three verifiers on one store. The clocks of verifiers and server step back and
 * forth, mostly together. The stamps of the proofs are true, and one in four copies is the version 1 half. Ends when a proof was
 * accepted twice.
 *
 * @param library folder of the verifier's sources
 */
export async function spendOnSteppingClocks(
  name: ClockedStoreName,
  library: string,
  spendsMax: number,
  seed: string,
): Promise<ClockRun> {
  const random = createRandom(seed);
  let trueSeconds = START;
  const errors = POLICIES.map(() => 0);
  let serverError = 0;
  const uptime = (): number => trueSeconds * 1000;
  const parties = POLICIES.map((policy, index) => ({
    policy,
    clock: { now: () => (trueSeconds + (errors[index] ?? 0)) * 1000, uptime },
  }));
  await using store = await CLOCKED_STORES[name].open(library, parties);
  const seats = parties.map((party, index) => ({ ...party, replay: store.replays[index] as ReplayStore }));

  const stamps = new Float64Array(RECORDED);
  const times = new Uint8Array(RECORDED);
  const signingInput = new Uint8Array();
  let [spends, proofs, accepted, steps, twice] = [0, 0, 0, 0, 0];

  async function present(proof: number, isWhole: boolean): Promise<void> {
    const { policy, clock, replay } = random.pick(seats);
    const v1Id = (): string => idOf(proof, 32).toString('hex');
    const spend = {
      policy,
      timestamp: stamps[proof % RECORDED] ?? 0,
      nowMs: clock.now(),
      signingInput,
      v1Id,
    };
    try {
      await replay.spend(isWhole ? { ...spend, nonce: idOf(proof, 16).toString('base64url') } : spend);
    } catch (refused) {
      if (!(refused instanceof Error && 'code' in refused)) throw refused;
      return;
    }
    accepted += 1;
    const before = times[proof % RECORDED] ?? 0;
    times[proof % RECORDED] = before + 1;
    if (before === 1) twice += 1;
  }

  function presentOne(): Promise<void> {
    spends += 1;
    const isNew = proofs === 0 || random.chance(0.5);
    if (!isNew) {
      const back = random.below(Math.min(proofs, RECORDED - AT_ONCE, 2 ** random.below(16)));
      return present(proofs - 1 - back, random.chance(0.75));
    }
    stamps[proofs % RECORDED] = Math.floor(trueSeconds);
    times[proofs % RECORDED] = 0;
    return present(proofs++, true);
  }

  await store.setClock(trueSeconds);
  await store.touch();
  while (spends < spendsMax && twice === 0) {
    trueSeconds += STEP_SECONDS * AT_ONCE;
    const isStep = random.chance(AT_ONCE / STEP_EVERY);
    if (isStep) {
      const error = random.pick(ERRORS);
      const drawn = (): number => (random.chance(APART) ? random.pick(ERRORS) : error);
      for (const index of errors.keys()) errors[index] = drawn();
      serverError = drawn();
      steps += 1;
    }
    await store.setClock(trueSeconds + serverError);
    if (isStep) await store.touch();
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, spendsMax - spends) }, presentOne));
  }
  return { spends, proofs, accepted, steps, twice };
}

/** An id of this many bytes. */
function idOf(proof: number, bytes: number): Buffer {
  const id = Buffer.alloc(bytes);
  id.writeUInt32BE(proof);
  return id;
}
