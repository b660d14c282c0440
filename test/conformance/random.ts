import { createHash } from 'node:crypto';

/** Pseudo-random numbers from a seed, the same on every machine. */
export interface Random {
  /** From 0 to `below` - 1. */
  whole(below: number): number;
  /** True with a probability of 1 in `times`. */
  once(times: number): boolean;
  of<T>(list: readonly T[]): T;
}

/** Mulberry32: small, and good enough to generate test cases. */
export function createRandom(seed: string): Random {
  let state = createHash('sha256').update(seed).digest().readUInt32LE(0);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (below: number): number => Math.floor(next() * below);
  return {
    whole,
    once: (times) => whole(times) === 0,
    of(list) {
      const drawn = list[whole(list.length)];
      if (drawn === undefined) throw new RangeError('an empty list');
      return drawn;
    },
  };
}
