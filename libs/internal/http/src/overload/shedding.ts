import { performance } from 'node:perf_hooks';

/** How many late measurements in a row count as overload: one pause of the process makes up to two measurements late. */
const LATE_MIN = 3;
const STILL_LATE_MIN = 2;
/** Unknown callers always have a chance, as after a restart, when no caller is known. */
const STRANGERS_MIN = 0.05;
/** Per measurement, so that a share that is too large fills the queue slowly. */
const RECOVERY = 0.02;
const CAUTIOUS_RECOVERY = 0.005;
const KNOWN_MAX = 16_384;
const KNOWN_MS = 600_000;
/** A known caller who sends more than this to this process counts as a stranger. */
const PER_SECOND_MAX = 2;
const AT_ONCE_MAX = 5;

/** The sender of a request, as far as its head identifies it. */
export interface Sender {
  readonly network: string;
  /** A digest of its credential; undefined without one. Only called if needed. */
  credential(): string | undefined;
}

/**
 * Gives priority to recently served callers while the process is overloaded. Of the others it admits one in twenty while
 * connections wait longer than `delayMs`; then slowly more while they wait less than a quarter of that, and fewer when
 * they wait longer. While the process is half full, it admits none of the others, unless it knows no caller at all.
 */
export class Shedding {
  readonly #delayMs: number;
  readonly #networks = new RecentNames();
  readonly #credentials = new RecentNames();
  #late = 0;
  #stillLate = 0;
  #share = 1;
  #credit = 0;

  constructor(delayMs: number) {
    this.#delayMs = delayMs;
  }

  /** @param isOver false for a wait in progress, which means nothing while it is short */
  observe(waitedMs: number, isOver: boolean): void {
    const part = waitedMs / this.#delayMs;
    if (part >= 1) {
      this.#late += 1;
      this.#stillLate = isOver ? 0 : this.#stillLate + 1;
      if (this.#late >= LATE_MIN || this.#stillLate >= STILL_LATE_MIN) this.#share = STRANGERS_MIN;
    } else if (part >= 1 / 4) {
      if (this.#share < 1) this.#share = Math.max(STRANGERS_MIN, this.#share * (part >= 1 / 2 ? 0.5 : 0.8));
    } else if (isOver) {
      this.#late = 0;
      this.#stillLate = 0;
      this.#share = Math.min(1, this.#share + (part < 1 / 10 ? RECOVERY : CAUTIOUS_RECOVERY));
    }
  }

  /** A request of this sender succeeded. */
  served({ network, credential }: Sender, now: number = performance.now()): void {
    this.#networks.remember(network, now);
    const name = credential();
    if (name !== undefined) this.#credentials.remember(name, now);
  }

  /** A request of this sender, whose account is known, was refused through its own fault. */
  refused({ network, credential }: Sender): void {
    this.#networks.forget(network);
    const name = credential();
    if (name !== undefined) this.#credentials.forget(name);
  }

  /** @param isHalfFull whether half of what may be in progress is */
  admits({ network, credential }: Sender, isHalfFull: boolean, now: number = performance.now()): boolean {
    const isCrowded = isHalfFull && !this.#networks.isEmpty;
    if (this.#share === 1 && !isCrowded) return true;
    if (this.#networks.admits(network, now)) return true;
    const name = credential();
    if (name !== undefined && this.#credentials.admits(name, now)) return true;
    if (isCrowded) return false;
    this.#credit += this.#share;
    if (this.#credit < 1) return false;
    this.#credit -= 1;
    return true;
  }
}

interface Entry {
  servedAt: number;
  countedAt: number;
  credit: number;
}

/** Recently served names; beyond the limit, the least recently served one is dropped. */
class RecentNames {
  readonly #entries = new Map<string, Entry>();
  #newest: string | undefined;

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  remember(name: string, now: number): void {
    const entry = this.#entries.get(name) ?? { servedAt: now, countedAt: now, credit: AT_ONCE_MAX };
    entry.servedAt = now;
    if (name === this.#newest) return;
    this.#newest = name;
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    if (this.#entries.size <= KNOWN_MAX) return;
    const [oldest = ''] = this.#entries.keys();
    this.#entries.delete(oldest);
  }

  forget(name: string): void {
    if (name === this.#newest) this.#newest = undefined;
    this.#entries.delete(name);
  }

  admits(name: string, now: number): boolean {
    const entry = this.#entries.get(name);
    if (entry === undefined || now - entry.servedAt > KNOWN_MS) return false;
    const earned = ((now - entry.countedAt) / 1000) * PER_SECOND_MAX;
    entry.credit = Math.min(AT_ONCE_MAX, entry.credit + earned);
    entry.countedAt = now;
    if (entry.credit < 1) return false;
    entry.credit -= 1;
    return true;
  }
}
