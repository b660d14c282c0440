import type { TurnVerdict } from '@ori/turns/turn';

// Results that only an adapter can produce. `npm run check` lets only the adapters import these classes as values, so
// that the pipeline cannot construct one without the call.

/** The audit adapter's confirmation that a line was written. */
export class Written {
  protected readonly source = 'audit';
  readonly line: string;

  constructor(line: string) {
    this.line = line;
  }
}

/** The limiter's verdict, and whether a nonce was reserved with it; never true for a refused turn. */
export class TurnTaken {
  protected readonly source = 'turns';
  readonly verdict: TurnVerdict;
  readonly reserved: boolean;

  constructor(verdict: TurnVerdict, reserved: boolean) {
    this.verdict = verdict;
    this.reserved = reserved;
  }
}

/** The clock watch's statement that this machine's clock is not known to be wrong. */
export class ClockChecked {
  protected readonly source = 'clock';
}
