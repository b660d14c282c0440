import { BusyError } from '@ori/runtime/busy-error';
import { LIMITS, type Limits } from '@ori/runtime/limits';
import type { Budget } from '@ori/runtime/metrics';
import { SheddingBudget } from './shedding-budget.ts';

/** Counts requests in flight by owner. An owner without any uses no memory. */
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

/** Limits the concurrent work of one server. */
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

  get isHalfFull(): boolean {
    return this.#requests >= this.limits.requestsInFlightMax / 2;
  }

  /**
   * Admits a request from a network, or returns the exhausted budget. An admitted request must `leave`.
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

  /** Reserves room for a body from a network. @param end called if the body has to make room for another */
  holdBody(network: string, end: () => void) {
    return this.#bodies.hold(network, end);
  }
}

/** The network that an address counts as: itself for IPv4, its /64 for IPv6 (RFC 6177). */
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
