import { loadLibrary } from './open-store.ts';
import { createRandom } from './random.ts';

/** Seconds by which the clock may be wrong: within the tolerances, within the shortest memory, beyond the longest. */
const ERRORS = [0, 0, 0, 0.4, -0.4, 2, -2, 5, -5, 30, -30, 91, -91, 300, -300, 700, -700];
/** One memory for verifiers with different values (SPEC.md V30). */
const POLICIES = [
  { maxAgeSeconds: 60, clockToleranceSeconds: 2 },
  { maxAgeSeconds: 600, clockToleranceSeconds: 60 },
  { maxAgeSeconds: 1, clockToleranceSeconds: 0 },
].map((times) => ({ internId: 'int_1', acceptV1: true, ...times }));
/** Of presentations, in true time. */
const STEP_SECONDS = 0.02;
/** Of presentations, on average. */
const STEP_EVERY = 500;
/** The proofs that are still presented: 1,300 s of them. */
const RECORDED = 2 ** 15;
const START = 1_789_000_000;

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
 * Presents proofs and their copies, half of them each, to three verifiers on one memory store, whose clock steps back and forth. The
 * stamps of the proofs are true, and one in four copies is the version 1 half.
 *
 * @param library folder of the verifier's sources
 */
export async function spendOnSteppingClocks(
  library: string,
  spends: number,
  seed: string,
): Promise<ClockRun> {
  const random = createRandom(seed);
  let trueSeconds = START;
  let error = 0;
  const now = (): number => (trueSeconds + error) * 1000;
  const uptime = (): number => trueSeconds * 1000;
  const address = { kind: 'memory', entriesMax: 2_000_000 } as const;
  const { replay } = await loadLibrary(library).openStore(address, { now, uptime });
  for (const policy of POLICIES) replay.attach?.(policy);

  const stamps = new Float64Array(RECORDED);
  const times = new Uint8Array(RECORDED);
  const signingInput = new Uint8Array();
  let [proofs, accepted, steps, twice] = [0, 0, 0, 0];

  function present(proof: number, isWhole: boolean): boolean {
    const policy = random.pick(POLICIES);
    const id = { nonce: `n${proof}`, v1Id: () => `v${proof}` };
    try {
      const spend = { policy, timestamp: stamps[proof % RECORDED] ?? 0, nowMs: now(), signingInput };
      replay.spend(isWhole ? { ...spend, ...id } : { ...spend, v1Id: id.v1Id });
      return true;
    } catch (refused) {
      if (!(refused instanceof Error && 'code' in refused)) throw refused;
      return false;
    }
  }

  for (let count = 0; count < spends; count++) {
    trueSeconds += STEP_SECONDS;
    if (random.below(STEP_EVERY) === 0) {
      error = random.pick(ERRORS);
      steps += 1;
    }
    const isNew = proofs === 0 || random.chance(0.5);
    const proof = isNew
      ? proofs++
      : proofs - 1 - random.below(Math.min(proofs, RECORDED, 2 ** random.below(16)));
    if (isNew) {
      stamps[proof % RECORDED] = Math.floor(trueSeconds);
      times[proof % RECORDED] = 0;
    }
    if (!present(proof, isNew || random.chance(0.75))) continue;
    accepted += 1;
    const before = times[proof % RECORDED] ?? 0;
    times[proof % RECORDED] = before + 1;
    if (before === 1) twice += 1;
  }
  return { spends, proofs, accepted, steps, twice };
}
