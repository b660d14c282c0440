/** The target of a finding: for our number divided by theirs (or minus theirs), or for ours alone. */
export type Mark = { readonly atLeast: number } | { readonly atMost: number };

/** One measured number, once per round. */
export interface Series {
  readonly name: string;
  readonly rounds: readonly number[];
}

/** One line of the table: our number against another, or against a constant. */
export interface Finding {
  readonly title: string;
  readonly unit: string;
  readonly ours: Series;
  /** Absent: the target is for our own number. */
  readonly theirs?: Series;
  /** How ours is compared with theirs. Default: the ratio. */
  readonly by?: 'difference';
  /** Absent: shown for scale. */
  readonly mark?: Mark;
}

/** The context of a row. */
export interface Bench {
  /** Only check that everything runs, with fewer and smaller inputs. */
  readonly isQuick: boolean;
  readonly rounds: number;
  /** One measurement of one server: its duration, and the number of concurrent requests. */
  readonly load: { readonly seconds: number; readonly connections: number };
  /** The number of proofs that a server issues before it is measured. */
  readonly warmProofs: number;
  progress(what: string): void;
  /** Remarks on the figures, shown below the table. */
  remark(what: string): void;
  /** Opens a resource that several rows share; closed after the last row. */
  share<T extends AsyncDisposable>(open: (bench: Bench) => Promise<T>): Promise<T>;
}

/** One comparison. It verifies the work that it measures, and throws if it was not done. */
export interface Row {
  readonly name: string;
  /** Its figures do not depend on other load of the machine: a missed mark fails the run, however short it is. */
  readonly isExact?: boolean;
  /** Why it cannot run on this machine; undefined if it can. */
  readonly missing?: () => string | undefined;
  run(bench: Bench): Promise<readonly Finding[]>;
}

export const NO_NGINX = 'no nginx on this machine; `npm run setup` installs it';

/** Runs each side once per round, in turn: A B A B. Drift of the machine affects all sides alike. */
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

/** The ratio (or difference) of a finding per round, or our own number if nothing is compared. */
export function valuesOf({ ours, theirs, by }: Finding): number[] {
  if (theirs === undefined) return [...ours.rounds];
  return combine(ours.rounds, theirs.rounds, (one, other) =>
    by === 'difference' ? one - other : one / other,
  );
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

/** A calculation with two numbers of each round. */
export const combine = (
  these: readonly number[],
  those: readonly number[],
  by: (one: number, other: number) => number,
): number[] => these.map((one, round) => by(one, those[round] ?? Number.NaN));
