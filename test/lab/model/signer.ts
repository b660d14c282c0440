import { type Configuration, type Issue, KEPT } from './configuration.ts';
import { inputV2 } from './signing-input.ts';
import { entry, type Key, type Proof, type State } from './state.ts';

/** Reserves the nonce, then signs both versions with the current key. A thief makes no reservation. */
export function issue(
  configuration: Configuration,
  state: State,
  { intern, user, body, path, draw, by }: Issue,
): { state: State; verdict: string } {
  const { broken } = configuration;
  const at = state.time + state.signerClock;
  const nonce = draw === 'again' ? 0 : state.proofs.length;
  const key = keyOf(configuration, entry(state.keys, intern), at, by);
  if (key === undefined) return { state, verdict: 'no key' };
  const proof: Proof = { intern, at, user, body, path, nonce, key: key.id, issued: by === 'signer' };
  const proofs = [...state.proofs, proof];
  const seen = { ...state.seen, accepted: [...state.seen.accepted, { v1: 0, v2: 0 }] };
  if (!proof.issued) return { state: { ...state, proofs, seen }, verdict: 'made' };

  const reservations = state.reservations.filter(({ until }) => until > state.time);
  const isTaken = reservations.some((other) => other.intern === intern && other.nonce === nonce);
  if (isTaken && !broken.has('reservation-ignored')) return { state, verdict: 'nonce taken' };
  const until = state.time + (broken.has('reservation-too-short') ? 1 : KEPT);
  reservations.push({ intern, nonce, value: inputV2(configuration, proof), until });
  return { state: { ...state, proofs, seen, reservations }, verdict: 'issued' };
}

function keyOf(
  { broken }: Configuration,
  keys: readonly Key[],
  at: number,
  by: Issue['by'],
): Key | undefined {
  if (by === 'thief-of-old-key') return keys.find(({ exp }) => exp <= at);
  if (by === 'thief-of-next-key') return keys.find(({ nbf }) => nbf > at);
  if (broken.has('retired-key-signs')) return keys[0];
  return keys.find(({ nbf, exp }) => nbf <= at && at < exp);
}
