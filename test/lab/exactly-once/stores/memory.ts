import type { Fault, World } from '../stage.ts';
import { OWN_CLOCK_FAULTS, STEP_MS, VERIFIER_FAULTS } from './any-store.ts';

const STORE = { kind: 'memory', entriesMax: 2_000_000 } as const;
const CAP = 100;
/** Longer than any proof is remembered. */
const LONG_MS = 700_000;

/** One process with a memory store; its faults are those of the store. */
export async function memoryWorld(): Promise<World> {
  const faults: Record<string, Fault> = {
    /** The clock is behind when the process starts and is corrected later, so earlier proofs appear to be from the future. */
    async 'killed, started with the clock behind'({ restart, clock, pause, random, worst }) {
      await restart(0, { clockErrorMs: -STEP_MS });
      worst();
      await pause(random.between(200, 2500));
      clock(0, 0);
      worst();
      await pause(200);
    },

    async 'killed twice'({ restart, pause, random, worst }) {
      await restart(0);
      worst();
      await pause(random.between(0, 1500));
      await restart(0);
      worst();
    },

    /** More proofs than fit: none may be evicted for another, and only expiry makes room. */
    async 'cap flooded'({ restart, pause, random, worst, sleep }) {
      await restart(0, { store: { kind: 'memory', entriesMax: CAP } });
      await pause(random.between(4500, 6000));
      worst();
      await pause(300);
      sleep(LONG_MS);
      await restart(0);
    },

    /** Proofs that were forgotten because of their age become timely again. */
    async 'time passes, then the clock goes back'({ sleep, clock, pause, random, worst }) {
      sleep(LONG_MS);
      await pause(random.between(200, 600));
      clock(0, -LONG_MS);
      worst();
      await pause(random.between(300, 1200));
      clock(0, 0);
      worst();
    },
  };
  return {
    store: STORE,
    faults: { ...VERIFIER_FAULTS, ...OWN_CLOCK_FAULTS, ...faults },
    [Symbol.asyncDispose]: async () => {},
  };
}
