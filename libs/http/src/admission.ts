import { BusyError } from '@ori/runtime/busy-error';
import { LIMITS, type Limits } from '@ori/runtime/limits';
import type { Budget } from '@ori/runtime/metrics';
import { type Share, SheddingBudget } from './shedding-budget.ts';

/** Counts what is under way, by whose it is. A name that nothing is under way for takes no memory. */
class Tally {
  readonly #max: number;
  readonly #counts = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  isFull(name: string): boolean {
    return (this.#counts.get(name) ?? 0) >= this.#max;
  }

  enter(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  leave(name: string): void {
    const count = this.#counts.get(name) ?? 0;
    if (count <= 1) this.#counts.delete(name);
    else this.#counts.set(name, count - 1);
  }
}

/** What one server takes on at a time. */
export class Admission {
  readonly limits: Limits;
  readonly #addresses: Tally;
  readonly #accounts: Tally;
  readonly #bodies: SheddingBudget;
  #requests = 0;

  constructor(limits: Partial<Limits> = {}) {
    this.limits = { ...LIMITS, ...limits };
    this.#addresses = new Tally(this.limits.requestsInFlightPerAddressMax);
    this.#accounts = new Tally(this.limits.requestsInFlightPerAccountMax);
    this.#bodies = new SheddingBudget(this.limits.bodiesInFlightMax, this.limits.bodyBytesInFlightMax);
  }

  /**
   * Takes a request of a network on, or tells which budget is used up. What was taken on is to `leave`.
   *
   * @param network of `networkOf`
   */
  enter(network: string): Budget | undefined {
    if (this.#requests >= this.limits.requestsInFlightMax) return 'process';
    if (this.#addresses.isFull(network)) return 'address';
    this.#requests += 1;
    this.#addresses.enter(network);
    return undefined;
  }

  leave(network: string, account: string | undefined): void {
    this.#requests -= 1;
    this.#addresses.leave(network);
    if (account !== undefined) this.#accounts.leave(account);
  }

  /** @throws {BusyError} `account` */
  enterAccount(account: string): void {
    if (this.#accounts.isFull(account)) throw new BusyError('account');
    this.#accounts.enter(account);
  }

  /** Room for a body that is still to come. @param end called where it has to make room for another */
  holdBody(end: () => void): Share {
    return this.#bodies.hold(end);
  }
}

/** Whom an address counts for: an IPv4 address is one client's, of IPv6 one client has a /64 (RFC 6177). */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address;
  const [before = '', after] = address.split('::', 2);
  const groups = before === '' ? [] : before.split(':');
  if (after !== undefined) {
    const rest = after === '' ? [] : after.split(':');
    while (groups.length + rest.length < 8) groups.push('0');
  }
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
