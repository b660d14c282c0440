import type { TurnVerdict } from '@ori/turns/turn';
import { type Draft, draftProof } from './draft-proof.ts';
import type { TurnTaken } from './evidence.ts';
import { SigningError } from './signing-error.ts';
import { type Made, made } from './stage.ts';

/** One turn, charged to the user and to the intern's organization, and the draft it was charged for. */
export interface Turn extends Made<'throttle'> {
  readonly draft: Draft;
  readonly verdict: TurnVerdict;
}

/**
 * Decides on the verdict of the limiter shared with chat, which charges both counters or neither. Runs after every
 * refusal that does not need a turn.
 *
 * @throws SigningError `rate_limited`, with the verdict
 */
export function throttle(draft: Draft, { verdict }: TurnTaken): Turn {
  if (!verdict.allowed) {
    throw new SigningError('rate_limited', `no turn left for the ${verdict.scope}`, { turns: verdict });
  }
  return made<Turn>({ draft, verdict });
}

/** The same turn for another draft of the same proof, after its nonce was taken. */
export function redraft({ draft, verdict }: Turn, timestamp: number, nonce: string): Turn {
  return made<Turn>({ draft: draftProof(draft.key, draft.clock, timestamp, nonce), verdict });
}
