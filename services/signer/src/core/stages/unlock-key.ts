import { isUser } from '@ori/proof/fields';
import type { SigningKey } from '@ori/proof/signing';
import type { Entry } from './pass-gate.ts';
import { SigningError } from './signing-error.ts';
import { type Made, made } from './stage.ts';

/** The newest usable key of an intern that may sign now; undefined if there is none. */
export type UnlockableKey = SigningKey | undefined;

/** An admitted member, with the intern's opened signing key. */
export interface UnlockedKey extends Made<'unlockKey'> {
  readonly entry: Entry;
  readonly signingKey: SigningKey;
}

/**
 * Refuses a subject that does not fit into a header, and an intern without a usable key that may sign now, before a
 * turn is charged.
 *
 * @throws SigningError `configuration_error`
 */
export function unlockKey(entry: Entry, signingKey: UnlockableKey): UnlockedKey {
  if (!isUser(entry.order.grant.session.subject)) {
    throw new SigningError('configuration_error', 'the subject does not fit into a header');
  }
  if (signingKey === undefined) {
    throw new SigningError('configuration_error', `no usable signing key for intern ${entry.internId}`);
  }
  return made<UnlockedKey>({ entry, signingKey });
}
