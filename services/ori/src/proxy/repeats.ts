import type { ProofHeaderValues } from '@ori/proof/wire';
import { CliError } from '../core/errors.ts';

/** A call that its program may repeat. */
interface Repeatable {
  readonly what: string;
  /** With which it was sent last; undefined if it was not. */
  proof?: ProofHeaderValues;
  /** When the last request for it is over. */
  over: Promise<void>;
  /** Requests for it that are not over. */
  open: number;
}

/** Keys that were used longer ago are forgotten, but none of an open request; a daemon does not keep answers for long either. */
const KEYS_MAX = 1000;

/** The calls of programs by their `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header). */
export function createRepeats() {
  const calls = new Map<string, Repeatable>();
  return {
    /**
     * Runs the requests with one key after each other. Throws CliError `not_proxied` for the key of another call.
     *
     * @param what the call does, whatever else its requests carry
     */
    async run(key: string, what: string, work: (call: Repeatable) => Promise<void>): Promise<void> {
      const call = calls.get(key) ?? { what, over: Promise.resolve(), open: 0 };
      if (call.what !== what) throw new CliError('not_proxied', { why: 'key' });
      calls.set(key, call);
      call.open += 1;
      const mine = call.over.then(() => work(call));
      call.over = mine.catch(() => undefined);
      try {
        await mine;
      } finally {
        call.open -= 1;
        calls.delete(key);
        calls.set(key, call);
        for (const [oldest, { open }] of calls) if (open === 0 && calls.size > KEYS_MAX) calls.delete(oldest);
      }
    },
  };
}
