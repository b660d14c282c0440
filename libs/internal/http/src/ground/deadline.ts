import { performance } from 'node:perf_hooks';
import type { Presentation } from './presentation.ts';

/** The route's deadline passed before the request was answered. */
export class DeadlineError extends Error {
  readonly code = 'deadline_exceeded';
  readonly deadlineMs: number;

  constructor(deadlineMs: number) {
    super(`the ${deadlineMs} ms deadline was exceeded`);
    this.name = 'DeadlineError';
    this.deadlineMs = deadlineMs;
  }
}

/**
 * The deadline of one request, from its first byte to its answer. It does not interrupt synchronous work.
 *
 * A class, because V8 gives each object literal with a getter a hidden class of its own, and there is one per request.
 */
export class Deadline {
  readonly ms: number;
  readonly #startedAt: number;
  readonly #onExpire: (() => void) | undefined;
  readonly #timer: NodeJS.Timeout;
  #controller: AbortController | undefined;
  /** Why the request is over, if it ended before its answer. */
  #reason: Error | undefined;

  /**
   * @param startedAt `performance.now()` at the first byte of the request; `now` by default
   * @param onExpire called before the signal aborts
   * @param now `performance.now()`
   */
  constructor(ms: number, startedAt?: number, onExpire?: () => void, now = performance.now()) {
    this.ms = ms;
    this.#startedAt = startedAt ?? now;
    this.#onExpire = onExpire;
    this.#timer = setTimeout(() => this.#expire(), Math.ceil(Math.max(0, this.#startedAt + ms - now)));
  }

  /** Aborts at the deadline with a {@link DeadlineError}, or with the reason of `abandon`. Created on first use. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  remainingMs(): number {
    return Math.max(0, this.#startedAt + this.ms - performance.now());
  }

  /** @throws {DeadlineError} once the deadline has passed; the reason of `abandon` once the client has disconnected. */
  check(): void {
    if (this.#reason !== undefined) throw this.#reason;
    if (this.remainingMs() === 0) throw new DeadlineError(this.ms);
  }

  /** The result of the promise, or a rejection with the signal's reason when it aborts. Does not stop the work itself. */
  race<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      const onAbort = () => reject(signal.reason);
      if (signal.aborted) onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    });
  }

  /** Stops the clock, because the request has been answered. The signal never aborts afterwards. */
  clear(): void {
    clearTimeout(this.#timer);
  }

  /** Stops the clock and aborts the signal, because the client disconnected or its request is truncated. */
  abandon(reason: Error): void {
    this.clear();
    this.#end(reason);
  }

  #expire(): void {
    const reason = new DeadlineError(this.ms);
    this.#reason ??= reason;
    this.#onExpire?.();
    this.#end(reason);
  }

  #end(reason: Error): void {
    this.#reason ??= reason;
    this.#controller?.abort(this.#reason);
  }
}

/** The response to a request that exceeded its deadline. */
export function presentDeadline(ms: number): Presentation {
  return {
    status: 408,
    message: `The ${ms} ms deadline of this route was exceeded.`,
    reason: 'timeout',
    retryable: true,
  };
}
