import type { ProofHeaderValues } from '@ori/proof/wire';
import { CliError } from '../core/errors.ts';

/** A call that its program may repeat. */
interface Repeatable {
  readonly what: string;
  /** With which it was sent last; undefined if it was not. */
  proof?: ProofHeaderValues;
  /** When the last request for it is over. */
  over: Promise<void>;
}

/** Older keys are forgotten; a daemon does not keep answers for long either. */
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
      const call = calls.get(key) ?? { what, over: Promise.resolve() };
      if (call.what !== what) throw new CliError('not_proxied', { why: 'key' });
      calls.set(key, call);
      for (const oldest of calls.keys()) if (calls.size > KEYS_MAX) calls.delete(oldest);
      const mine = call.over.then(() => work(call));
      call.over = mine.catch(() => undefined);
      return mine;
    },
  };
}
