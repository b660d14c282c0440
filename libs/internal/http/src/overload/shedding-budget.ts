/**
 * Limits how many holders there are and how much they hold in total. Beyond the limit, the owner that has most makes room: its oldest
 * holder is ended. So one owner cannot end the holders of the others, however many it begins.
 */
export class SheddingBudget {
  readonly #holdersMax: number;
  readonly #amountMax: number;
  readonly #holders = new Set<Holder>();
  readonly #owners = new Map<string, Owned>();
  #amount = 0;

  constructor(holdersMax: number, amountMax: number) {
    this.#holdersMax = holdersMax;
    this.#amountMax = amountMax;
  }

  /** @param end called at most once, when this holder has to make room; its share is released then */
  hold(owner: string, end: () => void) {
    const holder: Holder = { owner, amount: 0, end };
    const owned = this.#owners.get(owner) ?? { count: 0, amount: 0 };
    owned.count += 1;
    this.#owners.set(owner, owned);
    this.#holders.add(holder);
    this.#shed();
    return {
      /** Takes more; may end the holder itself. */
      grow: (amount: number): void => {
        if (!this.#holders.has(holder)) return;
        holder.amount += amount;
        this.#amount += amount;
        this.#ownedBy(holder).amount += amount;
        this.#shed();
      },
      /** Releases all of it. */
      release: (): void => this.#release(holder),
    };
  }

  #shed(): void {
    while (this.#holders.size > this.#holdersMax || this.#amount > this.#amountMax) {
      const holder = this.#oldestOfLargest(this.#holders.size > this.#holdersMax ? 'count' : 'amount');
      if (holder === undefined) return;
      this.#release(holder);
      holder.end();
    }
  }

  /** Of owners that have the same, the one whose oldest holder is older. */
  #oldestOfLargest(by: keyof Owned): Holder | undefined {
    let found: Holder | undefined;
    for (const holder of this.#holders) {
      if (by === 'amount' && holder.amount === 0) continue;
      if (found === undefined || this.#ownedBy(holder)[by] > this.#ownedBy(found)[by]) found = holder;
    }
    return found;
  }

  #ownedBy({ owner }: Holder): Owned {
    return this.#owners.get(owner) ?? { count: 0, amount: 0 };
  }

  #release(holder: Holder): void {
    if (!this.#holders.delete(holder)) return;
    this.#amount -= holder.amount;
    const owned = this.#ownedBy(holder);
    owned.count -= 1;
    owned.amount -= holder.amount;
    if (owned.count === 0) this.#owners.delete(holder.owner);
  }
}

interface Owned {
  count: number;
  amount: number;
}

interface Holder {
  readonly owner: string;
  amount: number;
  readonly end: () => void;
}
