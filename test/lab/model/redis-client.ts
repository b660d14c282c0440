import type { Configuration, Delivery } from './configuration.ts';
import type { Claim } from './judge.ts';
import { type Answer, type Inside, spend, touch } from './redis-script.ts';
import { entry, replaced, type Server, type State, type Verifier } from './state.ts';

/** Half of the replicas, rounded up. */
export function replicasMinOf({ replicas }: Configuration): number {
  return Math.ceil(replicas / 2);
}

/** Replicas that a server counts as fresh. These include disconnected ones that it has not noticed. */
export function freshReplicasOf(state: State, index: number): number {
  return (
    state.servers.filter(({ follows }) => follows === index).length + entry(state.servers, index).phantoms
  );
}

/** Replicas that have what the server wrote. */
export function acknowledgementsOf(state: State, index: number): number {
  return state.servers.filter(({ follows, cut }) => follows === index && !cut).length;
}

/** Checks the server and records whether it was safe. */
export function touchRedis(configuration: Configuration, state: State, by: number): State {
  const { broken } = configuration;
  const verifier = entry(state.verifiers, by);
  const { intern, acceptV1 } = entry(configuration.verifiers, by);
  const answer = ask(configuration, state, by, intern, (inside, set) =>
    touch(configuration, inside, set, { ...askedBy(state, verifier, true), acceptV1 }),
  );
  const isUnsafe = answer.verdict === 'replay_store_unsafe';
  const learned = learn(configuration, answer.state, by, answer);
  const refuses = isUnsafe && !broken.has('unsafe-not-remembered');
  const verifiers = replaced(learned.verifiers, by, { ...entry(learned.verifiers, by), refuses });
  const warned = replaced(state.seen.warned, by, isUnsafe || entry(state.servers, verifier.server).evicts);
  return { ...learned, verifiers, seen: { ...state.seen, warned } };
}

/** Runs one script, without retries. Without an answer the proof counts as spent. */
export function spendInRedis(
  configuration: Configuration,
  state: State,
  by: number,
  claim: Claim,
  delivery: Delivery,
): { state: State; verdict: string } {
  const { broken, mode } = configuration;
  const verifier = entry(state.verifiers, by);
  if (verifier.refuses) return { state, verdict: 'replay_store_unsafe' };
  const { intern, at, v1Id, nonce, input } = claim;
  const isReserved =
    mode === 'spend' ||
    state.reservations.some(
      (held) =>
        held.intern === intern &&
        held.nonce === nonce &&
        held.until > state.time &&
        (held.value === input || broken.has('reservation-of-anything')),
    );
  const asked = { at, v1Id, nonce, isReserved, cutShort: delivery === 'cut-short' };
  const send = (from: State) =>
    ask(configuration, from, by, intern, (inside, set) =>
      spend(configuration, inside, set, { ...askedBy(from, verifier, false), ...asked }),
    );

  if (delivery !== 'arrives') {
    let left = delivery === 'question-lost' ? state : send(state).state;
    if (broken.has('lost-answer-accepted')) return { state: left, verdict: 'accepted' };
    if (broken.has('own-replay-accepted') && delivery !== 'cut-short') {
      const again = send(left);
      left = again.state;
      return { state: left, verdict: again.verdict === 'nonce_replayed' ? 'accepted' : again.verdict };
    }
    return { state: left, verdict: 'replay_store_unavailable' };
  }
  const answer = send(state);
  const learned = learn(configuration, answer.state, by, answer);
  const acknowledged = acknowledgementsOf(learned, verifier.server) >= replicasMinOf(configuration);
  if (answer.verdict === 'accepted' && !acknowledged && !broken.has('no-wait')) {
    return { state: learned, verdict: 'replay_store_unsafe' };
  }
  return { state: learned, verdict: answer.verdict };
}

function askedBy({ time }: State, { clock, newest }: Verifier, checksPolicy: boolean) {
  return { verifierNow: time + clock, newest, checksPolicy };
}

/** Runs a script on the server that this verifier reaches. Its writes are copied to connected replicas. */
function ask(
  configuration: Configuration,
  state: State,
  by: number,
  intern: number,
  script: (inside: Inside, set: Server['sets'][number]) => Answer,
): Answer & { state: State } {
  const index = entry(state.verifiers, by).server;
  const server = entry(state.servers, index);
  const inside = {
    now: state.time + server.clock,
    replicationId: server.replicationId,
    isPrimary: server.follows === undefined,
    freshReplicas: freshReplicasOf(state, index),
    replicasMin: replicasMinOf(configuration),
    evicts: server.evicts,
  };
  const where = configuration.broken.has('interns-share-a-ledger') ? 0 : intern;
  const answer = script(inside, entry(server.sets, where));
  if (answer.set === entry(server.sets, where)) return { ...answer, state };
  const sets = replaced(server.sets, where, answer.set);
  const servers = state.servers.map((other, position) =>
    position === index || (other.follows === index && !other.cut) ? { ...other, sets } : other,
  );
  return { ...answer, state: { ...state, servers } };
}

/** Takes the newest fence only from a valid answer. */
function learn({ broken }: Configuration, state: State, by: number, { fence }: Answer): State {
  const verifier = entry(state.verifiers, by);
  const heard = fence ?? (broken.has('fence-from-unsafe-answers') ? -99 : undefined);
  if (heard === undefined || (heard <= verifier.newest && fence !== undefined)) return state;
  return { ...state, verifiers: replaced(state.verifiers, by, { ...verifier, newest: heard }) };
}
