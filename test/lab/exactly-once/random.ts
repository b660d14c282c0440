import { hash } from 'node:crypto';

/** A seeded random source: the same seed and labels give the same choices. */
export interface Random {
  /** From 0 up to, but not including, 1. */
  next(): number;
  between(low: number, high: number): number;
  below(count: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  shuffle<T>(items: readonly T[]): T[];
  /** A separate source, so that one part's draws do not affect another's. */
  derive(label: string | number): Random;
}

/** The words of SHA-256 over the seed and a counter. */
export function createRandom(seed: string): Random {
  let block = Buffer.alloc(0);
  let blocks = 0;
  const next = (): number => {
    if (block.length === 0) block = hash('sha256', `${seed} ${blocks++}`, 'buffer');
    const word = block.readUInt32BE();
    block = block.subarray(4);
    return word / 2 ** 32;
  };
  const below = (count: number): number => Math.floor(next() * count);
  return {
    next,
    between: (low, high) => low + next() * (high - low),
    below,
    chance: (probability) => next() < probability,
    pick(items) {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error('nothing to pick from');
      return item;
    },
    shuffle(items) {
      const left = [...items];
      return items.map(() => left.splice(below(left.length), 1)[0] as (typeof items)[number]);
    },
    derive: (label) => createRandom(`${seed}/${label}`),
  };
}
