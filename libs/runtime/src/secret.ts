import { inspect } from 'node:util';

const REDACTED = '[redacted]';

/**
 * A value that must not reach a log, a message or a serialised object: every way of printing it gives
 * `[redacted]`, and only {@link Secret.reveal} gives the value itself. It does not protect the memory it lies in.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value; call it where it is handed over, and keep the result in no variable that outlives the call. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [Symbol.toPrimitive](): string {
    return REDACTED;
  }

  [inspect.custom](): string {
    return REDACTED;
  }
}
