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

export function createRandom(seed: string): Random {
  const next = sfc32(hash(seed));
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

/** Hashes a string to four 32-bit words (cyrb128). */
function hash(text: string): [number, number, number, number] {
  const words: [number, number, number, number] = [1779033703, 3144134277, 1013904242, 2773480762];
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    words[0] = words[1] ^ Math.imul(words[0] ^ code, 597399067);
    words[1] = words[2] ^ Math.imul(words[1] ^ code, 2869860233);
    words[2] = words[3] ^ Math.imul(words[2] ^ code, 951274213);
    words[3] = words[0] ^ Math.imul(words[3] ^ code, 2716044179);
  }
  return words;
}

/** Chris Doty-Humphrey's small fast counter (sfc32), after a few rounds to mix the seed. */
function sfc32([first, second, third, fourth]: [number, number, number, number]): () => number {
  let [a, b, c, counter] = [first, second, third, fourth];
  const turn = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return (sum >>> 0) / 4294967296;
  };
  for (let index = 0; index < 15; index += 1) turn();
  return turn;
}
