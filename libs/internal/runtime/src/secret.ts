import { inspect } from 'node:util';

const REDACTED = '[redacted]';

/**
 * A value that must not reach a log, a message or a serialized object: printed in any way, it is `[redacted]`; only
 * {@link Secret.reveal} returns the value. It does not protect the memory of the process.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /**
   * The value. Call it where the value is passed on, and do not store the result in a variable that outlives the call.
   */
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
