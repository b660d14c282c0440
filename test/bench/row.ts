/** What a finding must reach: of ours divided by theirs (or less theirs), or of ours alone. */
export type Mark = { readonly atLeast: number } | { readonly atMost: number };

/** One measured number, once per round. */
export interface Series {
  readonly name: string;
  readonly rounds: readonly number[];
}

/** One line of the table: ours against something else, or against a plain number. */
export interface Finding {
  readonly title: string;
  readonly unit: string;
  readonly ours: Series;
  /** Absent: the mark is for our own number. */
  readonly theirs?: Series;
  /** How ours is held against theirs. Default: their ratio. */
  readonly by?: 'difference';
  /** Absent: shown for scale. */
  readonly mark?: Mark;
  /** In which part of the plot it is drawn; absent: in none. */
  readonly plot?: 'throughput' | 'latency';
}

/** What a row runs with. */
export interface Bench {
  /** Only to see that everything runs: fewer and smaller of everything. */
  readonly isQuick: boolean;
  readonly rounds: number;
  /** One measurement of one server: how long, and how many requests under way at once. */
  readonly load: { readonly seconds: number; readonly connections: number };
  /** How many proofs a server has made before it is measured. */
  readonly warmProofs: number;
  progress(what: string): void;
  /** What a reader of the figures should know about them; shown below the table. */
  remark(what: string): void;
  /** What several rows share: opened by the first that needs it, closed after the last row. */
  share<T extends AsyncDisposable>(open: (bench: Bench) => Promise<T>): Promise<T>;
}

/** One comparison. It checks the work that it measures, and throws where that was not done. */
export interface Row {
  readonly name: string;
  /** Why it cannot run on this machine, in words for the reader; undefined where it can. */
  readonly missing?: () => string | undefined;
  run(bench: Bench): Promise<readonly Finding[]>;
}

/** Runs each side once per round, in turn: A B A B. Whatever drifts on the machine drifts for all of them. */
export async function alternate<Side extends string, Measured>(
  bench: Bench,
  sides: Readonly<Record<Side, () => Promise<Measured>>>,
): Promise<Record<Side, Measured[]>> {
  const names = Object.keys(sides) as Side[];
  const measured = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Side, Measured[]>;
  for (let round = 1; round <= bench.rounds; round++) {
    for (const name of names) {
      bench.progress(`round ${round} of ${bench.rounds}: ${name}`);
      measured[name].push(await sides[name]());
    }
  }
  return measured;
}

/** The ratio (or difference) of a finding per round, or our own number where there is nothing beside it. */
export function valuesOf({ ours, theirs, by }: Finding): number[] {
  if (theirs === undefined) return [...ours.rounds];
  return ours.rounds.map((value, round) => {
    const other = theirs.rounds[round] ?? Number.NaN;
    return by === 'difference' ? value - other : value / other;
  });
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2;
}

export function isReached(finding: Finding): boolean | undefined {
  if (finding.mark === undefined) return undefined;
  const value = median(valuesOf(finding));
  return 'atLeast' in finding.mark ? value >= finding.mark.atLeast : value <= finding.mark.atMost;
}
