/** The share of one holder of a budget. */
export interface Share {
  /** Takes more; may end the holder itself, if it is the oldest. */
  grow(amount: number): void;
  /** Releases all of it. */
  release(): void;
}

/**
 * Limits how many holders there are and how much they hold in total. Beyond the limit the oldest holder is ended, so that slow
 * clients make room for others.
 */
export class SheddingBudget {
  readonly #holdersMax: number;
  readonly #amountMax: number;
  readonly #holders = new Set<Holder>();
  #amount = 0;

  constructor(holdersMax: number, amountMax: number) {
    this.#holdersMax = holdersMax;
    this.#amountMax = amountMax;
  }

  /** @param end called at most once, when this holder has to make room; its share is released then */
  hold(end: () => void): Share {
    const holder: Holder = { amount: 0, end };
    this.#holders.add(holder);
    this.#shed();
    return {
      grow: (amount) => {
        if (!this.#holders.has(holder)) return;
        holder.amount += amount;
        this.#amount += amount;
        this.#shed();
      },
      release: () => this.#release(holder),
    };
  }

  #shed(): void {
    for (const holder of this.#holders) {
      if (this.#holders.size <= this.#holdersMax && this.#amount <= this.#amountMax) return;
      this.#release(holder);
      holder.end();
    }
  }

  #release(holder: Holder): void {
    if (this.#holders.delete(holder)) this.#amount -= holder.amount;
  }
}

interface Holder {
  amount: number;
  readonly end: () => void;
}
