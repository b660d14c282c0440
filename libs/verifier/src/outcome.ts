import { ProofError, type ProofErrorCode, UnavailableError, type UnavailableErrorCode } from '@ori/proof';
import { REFUSAL_CODES } from './refusal.ts';

/** What became of a proof. */
export type ProofOutcome = 'accepted' | ProofErrorCode | UnavailableErrorCode;

/** All there are, so that a counter can have every series from the start. */
export const PROOF_OUTCOMES: readonly ProofOutcome[] = ['accepted', ...REFUSAL_CODES];

export interface Outcomes {
  /** Tells what a judgement that is no promise threw. */
  ofHead<T>(judge: () => T): T;
  /** Tells how a whole judgement ended. */
  of<T>(judge: () => Promise<T>): Promise<T>;
}

/** A misuse (TypeError) is no outcome; and whatever the listener does, the verdict stays what it was. */
export function tellOutcomes(listen: ((outcome: ProofOutcome) => void) | undefined): Outcomes {
  function tell(outcome: ProofOutcome): void {
    try {
      listen?.(outcome);
    } catch {
      // A proof that was accepted is used up: the caller cannot be told to try again because somebody failed to count.
    }
  }
  function tellFailure(error: unknown): void {
    if (error instanceof ProofError || error instanceof UnavailableError) tell(error.code);
  }
  return {
    ofHead(judge) {
      try {
        return judge();
      } catch (error) {
        tellFailure(error);
        throw error;
      }
    },
    async of(judge) {
      try {
        const verdict = await judge();
        tell('accepted');
        return verdict;
      } catch (error) {
        tellFailure(error);
        throw error;
      }
    },
  };
}
