import type { Fault, Stage } from '../stage.ts';

const STEP_MS = 300_000;

/** One verifier's clock steps and comes back. A store with a clock of its own must not work with it meanwhile. */
async function step({ verifiers, random, clock, pause, worst }: Stage, errorMs: number): Promise<void> {
  const index = random.below(verifiers.length);
  clock(index, errorMs);
  worst();
  await pause(random.between(300, 1200));
  clock(index, 0);
  worst();
}

/** What befalls the verifiers, whatever their store. */
export const VERIFIER_FAULTS: Readonly<Record<string, Fault>> = {
  async 'verifier killed'({ verifiers, random, pause, restart, worst }) {
    await pause(random.between(0, 200));
    await restart(random.below(verifiers.length));
    worst();
  },

  'clock forward 300 s': (stage) => step(stage, STEP_MS),
  'clock back 300 s': (stage) => step(stage, -STEP_MS),

  /** Long enough for version 1 to be taken: at first everything up to its first use is refused. */
  async 'stripped after the whole'({ strip, worst, pause, random }) {
    strip('after');
    await pause(random.between(2500, 3500));
    worst();
    await pause(300);
    strip('off');
  },

  async 'stripped before the whole'({ strip, worst, pause, random }) {
    strip('before');
    await pause(random.between(2500, 3500));
    worst();
    await pause(300);
    strip('off');
  },
};
