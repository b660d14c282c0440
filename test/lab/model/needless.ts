import type { Action } from './actions.ts';
import { type Configuration, MAX_AGE, TOLERANCE } from './configuration.ts';
import type { Event } from './protocol.ts';
import { acknowledgementsOf, replicasMinOf } from './redis-client.ts';
import { v1IdOf } from './signing-input.ts';
import { entry, type State } from './state.ts';

export interface Transition {
  readonly before: State;
  readonly action: Action;
  readonly event: Event;
  readonly state: State;
}

/** A loss is noticed at the next check, possibly by a clock that is ahead, and its fence includes the tolerance. */
const SETTLED = 1 + 2 * TOLERANCE;

/**
 * Detects the refusal of a proof that is unchanged, timely and presented for the first time, although nothing is broken and
 * nothing has broken since it could have been issued again.
 */
export function refusedNeedlessly(
  configuration: Configuration,
  { before, action, event }: Transition,
): string | undefined {
  if (action.do !== 'present' || event.verdict === 'accepted') return undefined;
  const { form, change, delivery } = action;
  if (form !== 'pair' || change !== 'none' || delivery !== 'arrives') return undefined;
  const proof = entry(before.proofs, action.proof);
  const { time, proofs, seen } = before;
  if (!proof.issued || proof.intern !== entry(configuration.verifiers, action.to).intern) return undefined;
  if (proof.at <= seen.faultAt + SETTLED || seen.touched.includes(action.proof)) return undefined;
  if (proof.at < time - MAX_AGE || proof.at > time + TOLERANCE) return undefined;
  if (!isWell(configuration, before, action.to)) return undefined;
  const isUsed = proofs.some((other, index) => {
    const { v1, v2 } = entry(seen.accepted, index);
    if (index === action.proof) return v1 + v2 > 0;
    const sharesNonce = other.intern === proof.intern && other.nonce === proof.nonce;
    return sharesNonce || (v1 > 0 && v1IdOf(other) === v1IdOf(proof));
  });
  return isUsed ? undefined : `a fresh proof was refused: ${event.verdict}`;
}

/** Whether clocks, server, replicas and capacity are fine now, and the clock was not ahead when the store began. */
function isWell(configuration: Configuration, state: State, to: number): boolean {
  const { clock, refuses, server: index } = entry(state.verifiers, to);
  if (clock !== 0 || state.signerClock !== 0 || refuses) return false;
  if (state.memory !== undefined) {
    const { wall, time } = state.memory.born;
    if (wall > time) return false;
    const entries = state.memory.ledgers.flatMap(({ ids }) => Object.keys(ids));
    return entries.length + 2 <= configuration.entriesMax;
  }
  const server = entry(state.servers, index);
  return (
    server.clock === 0 &&
    server.follows === undefined &&
    !server.evicts &&
    acknowledgementsOf(state, index) >= replicasMinOf(configuration)
  );
}
