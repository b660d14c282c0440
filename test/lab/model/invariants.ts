import type { Action } from './actions.ts';
import { type Configuration, KEPT, MAX_AGE, STREAM, TOLERANCE } from './configuration.ts';
import type { Step } from './explore.ts';
import { refusedNeedlessly, type Transition } from './needless.ts';
import type { Event, Protocol } from './protocol.ts';
import { createRecovery } from './recovery.ts';
import { acknowledgementsOf, freshReplicasOf, replicasMinOf } from './redis-client.ts';
import { v1IdOf } from './signing-input.ts';
import { entry, type State } from './state.ts';

/** The invariants under every action of the adversary. */
export function createInvariants(
  configuration: Configuration,
  apply: (state: State, action: Action) => Step<State, Event>,
): Pick<Protocol, 'invariants' | 'always'> {
  const onAcceptance = (judge: (transition: Transition) => string | undefined) => (transition: Transition) =>
    transition.event.verdict === 'accepted' ? judge(transition) : undefined;
  return {
    invariants: {
      'accepted-once': onAcceptance(({ state }) => acceptedTwice(state)),
      'accepted-under-a-key-of-its-time': onAcceptance(underWrongKey),
      'accepted-as-issued': onAcceptance((transition) => notIssued(configuration, transition)),
      'accepted-in-time': onAcceptance(untimely),
      'body-ends': onAcceptance(({ before, action, event }) =>
        nowOf(before, action) - (event.judgedAt ?? 0) > STREAM ? 'accepted long after its head' : undefined,
      ),
      'v2-decides': onAcceptance(({ action, event: { claim, message } }) => {
        if (claim?.version !== 1) return undefined;
        if (message?.v2 !== undefined) return 'accepted as version 1 beside version 2 headers';
        return entry(configuration.verifiers, toOf(action)).acceptV1
          ? undefined
          : 'version 1 was not opted into';
      }),
      'unsafe-accepts-nothing': onAcceptance(({ before, action }) =>
        unsafe(configuration, before, toOf(action)),
      ),
      'nonce-issued-once': ({ action, event, state }) =>
        action.do === 'issue' && event.verdict === 'issued' ? issuedTwice(state) : undefined,
      'refused-for-a-reason': (transition) => refusedNeedlessly(configuration, transition),
    },
    always: { 'accepts-again': createRecovery(configuration, apply) },
  };
}

/** The verifier of the request. */
export function toOf(action: Action): number {
  return 'to' in action ? action.to : 0;
}

function nowOf({ time, verifiers }: State, action: Action): number {
  return time + entry(verifiers, toOf(action)).clock;
}

/** No proof is accepted twice. Once a version 1 id was accepted, no other proof with this id is. */
function acceptedTwice({ proofs, seen }: State): string | undefined {
  for (const [index, proof] of proofs.entries()) {
    const { v1, v2 } = entry(seen.accepted, index);
    if (v1 + v2 > 1) return `proof ${index} was accepted twice`;
    if (v1 === 0) continue;
    const alike = proofs.findIndex(
      (other, position) =>
        position !== index && v1IdOf(other) === v1IdOf(proof) && isAccepted(seen, position),
    );
    if (alike >= 0) return `proofs ${index} and ${alike} were accepted under one version 1 id`;
  }
  return undefined;
}

function isAccepted({ accepted }: State['seen'], index: number): boolean {
  const { v1, v2 } = entry(accepted, index);
  return v1 + v2 > 0;
}

function notIssued(configuration: Configuration, { action, event, state }: Transition): string | undefined {
  const { message, claim } = event;
  const { intern } = entry(configuration.verifiers, toOf(action));
  const wasIssued = state.proofs.some(
    (proof) =>
      proof.issued &&
      proof.intern === intern &&
      proof.at === message?.at &&
      proof.user === message.user &&
      proof.body === message.body &&
      message.method === 'POST' &&
      (claim?.version === 1 || (proof.path === message.path && proof.nonce === message.v2?.nonce)),
  );
  return wasIssued ? undefined : 'the signer issued no such proof';
}

function untimely({ event: { message, judgedAt = 0 } }: Transition): string | undefined {
  const age = judgedAt - (message?.at ?? 0);
  return age > MAX_AGE || age < -TOLERANCE ? `accepted at the age of ${age}` : undefined;
}

function underWrongKey({ event: { message, claim }, state }: Transition): string | undefined {
  const signature = (claim?.version === 1 ? message?.v1 : message?.v2?.signature) ?? '';
  const key = entry(state.keys, claim?.intern ?? 0).find(({ id }) => signature.startsWith(`${id}:`));
  if (key === undefined) return 'no key of this intern signed it';
  const at = message?.at ?? 0;
  return key.nbf <= at && at < key.exp ? undefined : 'its key was not good at that time';
}

function unsafe(configuration: Configuration, before: State, to: number): string | undefined {
  if (before.memory !== undefined) return undefined;
  const verifier = entry(before.verifiers, to);
  const server = entry(before.servers, verifier.server);
  if (server.follows !== undefined) return 'accepted by a replica';
  const replicasMin = replicasMinOf(configuration);
  if (freshReplicasOf(before, verifier.server) < replicasMin) return 'accepted without replicas at hand';
  if (acknowledgementsOf(before, verifier.server) < replicasMin) return 'accepted without acknowledgement';
  if (Math.abs(server.clock - verifier.clock) > TOLERANCE) return 'accepted with clocks apart';
  return entry(before.seen.warned, to) ? 'accepted although the last check reported unsafe' : undefined;
}

function issuedTwice({ proofs, seen, time }: State): string | undefined {
  const newest = proofs.at(-1);
  if (seen.reservationsLost || newest === undefined) return undefined;
  const other = proofs
    .slice(0, -1)
    .find(({ intern, nonce, issued }) => issued && intern === newest.intern && nonce === newest.nonce);
  return other !== undefined && time < other.at - TOLERANCE + KEPT
    ? 'a nonce was issued twice while it could still be accepted'
    : undefined;
}
