import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** `store-wire.json`: what a client sends to a shared store, and what comes back (README.md). */
export interface StoreWire {
  readonly redis: readonly Sequence<RedisStep>[];
  readonly postgres: readonly Sequence<PostgresStep>[];
  readonly outcomes: readonly OutcomeVector[];
}

interface Sequence<Step> {
  readonly title: string;
  readonly steps: readonly (Step | { readonly do: 'another process' })[];
}

type RedisStep = { readonly send: readonly string[]; readonly answer: unknown };

type PostgresStep =
  | { readonly call: string; readonly args: readonly unknown[]; readonly answer: Row }
  | { readonly sql: string; readonly answer?: Row };

export type Row = Readonly<Record<string, unknown>>;

interface OutcomeVector {
  readonly title: string;
  readonly key?: string;
  readonly intern: string;
  readonly nonce: string;
  readonly user: string;
  readonly text: string;
  readonly is: string | { readonly status: number; readonly headers: object; readonly body: string };
}

export const STORE_WIRE: StoreWire = JSON.parse(
  readFileSync(join(import.meta.dirname, 'store-wire.json'), 'utf8'),
);

/** What one process knows while it replays a sequence: the places in it, and what answers told. */
export class Replay {
  readonly #second = Math.floor(Date.now() / 1000);
  #told: Record<string, string>;
  readonly #first: Record<string, string>;

  constructor(first: Record<string, string>) {
    this.#first = first;
    this.#told = { ...first };
  }

  /** Another process, which no answer told anything yet. */
  forget(): void {
    this.#told = { ...this.#first };
  }

  /** The value to send for a value of the file. */
  fill(value: unknown): unknown {
    if (typeof value !== 'string' || !value.includes('$')) return value;
    const [, minus, name = '', by = '0'] = /^\$(minus:)?(now|second)([+-]\d+)?$/.exec(value) ?? [];
    if (name !== '') {
      const at = (name === 'now' ? Date.now() / 1000 : this.#second) + Number(by);
      return name === 'now' ? at.toFixed(6) : String(minus === undefined ? at : -at);
    }
    if (value.startsWith('$hex:')) return Buffer.from(value.slice(5), 'hex');
    return value.replace(/\$(\w+(?::\w+)?)$/, (_, known: string) => this.#told[known] ?? `no ${known}`);
  }

  /** Whether an answer is the expected one. Learns from it. */
  fits(expected: unknown, given: unknown): boolean {
    if (Array.isArray(expected)) {
      return (
        Array.isArray(given) &&
        given.length === expected.length &&
        expected.every((each, index) => this.fits(each, given[index]))
      );
    }
    if (typeof expected === 'object' && expected !== null) {
      return Object.entries(expected).every(([name, each]) => this.fits(each, (given as Row)[name]));
    }
    const text = String(given);
    switch (expected) {
      case '$some':
        return given !== null && text !== '';
      case '$seconds':
        return Number.isInteger(given) && Number(given) >= 1;
      case '$same':
        return text === this.#told['fence'];
      case '$fence':
      case '$event':
      case '$identity':
      case '$lsn': {
        const name = expected.slice(1);
        const isNewer = name === 'identity' || name === 'lsn' || Number(text) >= Number(this.#told[name]);
        this.#told[name] = text;
        return isNewer && (name !== 'fence' || /^\d+\.\d{6}$/.test(text));
      }
    }
    const filled = this.fill(expected);
    return filled === null || given === null ? filled === given : String(filled) === text;
  }
}
