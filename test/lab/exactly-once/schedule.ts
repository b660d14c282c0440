import type { Random } from './random.ts';

/** One fault in one lane, with the calm period before it. */
export interface Schedule {
  readonly number: number;
  readonly lane: string;
  readonly fault: string;
  readonly calmMs: number;
}

/** The faults that a lane supports. */
export type Repertoire = Readonly<Record<string, readonly string[]>>;

/**
 * The requested number of schedules, with every fault equally often, each in the lane with the least work among those that
 * support it. The order within a round is random.
 */
export function planSchedules(
  random: Random,
  repertoire: Repertoire,
  asked: number | { readonly rounds: number; readonly atLeast: number },
): Schedule[] {
  const faults = [...new Set(Object.values(repertoire).flat())];
  const count = typeof asked === 'number' ? asked : Math.max(asked.rounds * faults.length, asked.atLeast);
  const lanes = Object.keys(repertoire);
  const load = new Map(lanes.map((lane) => [lane, 0]));
  const schedules: Schedule[] = [];
  let round: string[] = [];
  for (let number = 0; number < count; number += 1) {
    if (round.length === 0) round = random.shuffle(faults);
    const fault = round.pop() ?? '';
    const able = random.shuffle(lanes.filter((lane) => repertoire[lane]?.includes(fault)));
    const lane = able.reduce((least, other) =>
      (load.get(other) ?? 0) < (load.get(least) ?? 0) ? other : least,
    );
    load.set(lane, (load.get(lane) ?? 0) + 1);
    schedules.push({ number, lane, fault, calmMs: Math.round(random.between(300, 1200)) });
  }
  return schedules;
}
