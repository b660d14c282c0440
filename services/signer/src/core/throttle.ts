import type { TurnVerdict } from '@ori/service-kit/turns';
import { SigningError } from './signing-error.ts';
import type { UnlockedKey } from './unlock-key.ts';

class ChargedTurn {
  protected readonly stage = 'throttle';
  readonly key: UnlockedKey;
  readonly verdict: TurnVerdict;

  constructor(key: UnlockedKey, verdict: TurnVerdict) {
    this.key = key;
    this.verdict = verdict;
  }
}

/** One turn, charged to the user and to the intern's organization. */
export type Turn = ChargedTurn;

/**
 * Seventh stage: the limiter that chat shares, whose verdict is all or nothing. Everything that can be refused without it
 * was refused before.
 *
 * @throws SigningError `rate_limited`, with the verdict
 */
export function throttle(key: UnlockedKey, verdict: TurnVerdict): Turn {
  if (!verdict.allowed) {
    throw new SigningError('rate_limited', `no turn left for the ${verdict.scope}`, { turns: verdict });
  }
  return new ChargedTurn(key, verdict);
}
