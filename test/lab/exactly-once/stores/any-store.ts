import type { Fault, Stage } from '../stage.ts';

/** Clocks step by this much. */
export const STEP_MS = 300_000;
/** Enough for every process to have received its order. */
const HEARD_MS = 700;

/** One verifier's clock steps and is set back. */
async function step(
  stage: Stage,
  errorMs: number,
  meanwhile: (index: number) => Promise<void>,
): Promise<void> {
  const index = stage.random.below(stage.verifiers.length);
  stage.clock(index, errorMs);
  stage.worst();
  await meanwhile(index);
  stage.clock(index, 0);
  stage.worst();
}

/** A store with its own clock must not work with a verifier whose clock differs. */
const refused = (errorMs: number) => (stage: Stage) =>
  step(stage, errorMs, async (index) => {
    await stage.pause(HEARD_MS);
    await stage.refuses(100, 1000, [index]);
  });

const endured = (errorMs: number) => (stage: Stage) =>
  step(stage, errorMs, () => stage.pause(stage.random.between(300, 1200)));

/** Long enough for version 1 to be accepted: everything signed before its first use is refused. */
const stripped =
  (stripping: 'after' | 'before'): Fault =>
  async ({ strip, worst, pause, random }) => {
    strip(stripping);
    await pause(random.between(2500, 3500));
    worst();
    await pause(300);
    strip('off');
  };

/** For a store that uses the verifier's clock. */
export const OWN_CLOCK_FAULTS: Readonly<Record<string, Fault>> = {
  'clock forward 300 s': endured(STEP_MS),
  'clock back 300 s': endured(-STEP_MS),
};

/** Faults of the verifiers, for every store. */
export const VERIFIER_FAULTS: Readonly<Record<string, Fault>> = {
  async 'verifier killed'({ verifiers, random, pause, restart, worst }) {
    await pause(random.between(0, 200));
    await restart(random.below(verifiers.length));
    worst();
  },

  'clock forward 300 s': refused(STEP_MS),
  'clock back 300 s': refused(-STEP_MS),

  'stripped after the whole': stripped('after'),
  'stripped before the whole': stripped('before'),
};
