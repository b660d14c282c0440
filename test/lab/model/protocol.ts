import { type Action, actionsOf } from './actions.ts';
import { type Configuration, type Delivery, STREAM } from './configuration.ts';
import type { Model, Step } from './explore.ts';
import { breakSomething } from './faults.ts';
import { createInvariants } from './invariants.ts';
import { type Claim, claimOf, type Judge, refuseHead, refuseSignature } from './judge.ts';
import { createMemory, spendInMemory } from './memory-store.ts';
import { type Message, messageOf } from './message.ts';
import { spendInRedis, touchRedis } from './redis-client.ts';
import { issue } from './signer.ts';
import { EMPTY_SET, entry, LONG_AGO, replaced, type Server, type State } from './state.ts';

/** The result of an action: the verdict, if any, and what was verified. */
export interface Event {
  readonly verdict?: string;
  readonly message?: Message;
  readonly claim?: Claim;
  /** When the head of this request was verified. */
  readonly judgedAt?: number;
}

export type Protocol = Model<State, Action, Event>;

export function createProtocol(configuration: Configuration): Protocol {
  const apply = (state: State, action: Action): Step<State, Event> => applyTo(configuration, state, action);
  return {
    initial: initialOf(configuration),
    actions: (state) => actionsOf(configuration, state),
    apply,
    encode: (state) => encode(configuration, state),
    ...createInvariants(configuration, apply),
  };
}

function initialOf(configuration: Configuration): State {
  const { interns, servers, verifiers, rotatesAt, sharedKey, store } = configuration;
  const each = <T>(count: number, make: (index: number) => T): T[] =>
    Array.from({ length: count }, (_, i) => make(i));
  const fence = { name: 0, at: LONG_AGO };
  const server = (index: number): Server => ({
    replicationId: 0,
    follows: index === 0 ? undefined : 0,
    cut: false,
    phantoms: 0,
    evicts: false,
    clock: 0,
    sets: each(interns, () => ({ ...EMPTY_SET, fence })),
    aside: each(interns, () => EMPTY_SET),
  });
  return {
    time: 0,
    signerClock: 0,
    keys: each(interns, (intern) => {
      const id = sharedKey ? 0 : intern * 2;
      if (rotatesAt === undefined) return [{ id, nbf: -99, exp: 99 }];
      return [
        { id, nbf: -99, exp: rotatesAt },
        { id: id + 1, nbf: rotatesAt, exp: 99 },
      ];
    }),
    reservations: [],
    proofs: [],
    verifiers: verifiers.map(() => ({
      clock: 0,
      newest: LONG_AGO,
      refuses: false,
      server: 0,
      open: undefined,
    })),
    servers: store === 'redis' ? each(servers, server) : [],
    memory: store === 'memory' ? createMemory(configuration, { wall: LONG_AGO, time: LONG_AGO }) : undefined,
    faultsLeft: configuration.faultsMax,
    seen: {
      accepted: [],
      touched: [],
      faultAt: LONG_AGO,
      reservationsLost: false,
      warned: verifiers.map(() => false),
    },
  };
}

function applyTo(configuration: Configuration, state: State, action: Action): Step<State, Event> {
  switch (action.do) {
    case 'issue':
      return told(issue(configuration, state, action.issue));
    case 'tick': {
      const later = { ...state, time: state.time + 1 };
      if (configuration.store === 'memory') return { state: later, event: {} };
      const touched = [...state.verifiers.keys()].reduce(
        (sofar, by) => touchRedis(configuration, sofar, by),
        later,
      );
      return { state: touched, event: {} };
    }
    case 'touch':
      return { state: touchRedis(configuration, state, action.by), event: {} };
    case 'break':
      return { state: breakSomething(configuration, state, action), event: {} };
    case 'begin': {
      const verifier = entry(state.verifiers, action.to);
      const message = messageOf(configuration, entry(state.proofs, action.proof), 'pair', 'none');
      const judge = judgeOf(configuration, state, action.to);
      const verdict = refuseHead(judge, message);
      if (verdict !== undefined) return { state, event: { verdict } };
      const open = { proof: action.proof, judgedAt: judge.now };
      const verifiers = replaced(state.verifiers, action.to, { ...verifier, open });
      return { state: { ...state, verifiers }, event: { verdict: 'begun' } };
    }
    case 'finish': {
      const { open, ...verifier } = entry(state.verifiers, action.to);
      if (open === undefined) return { state, event: {} };
      const message = messageOf(configuration, entry(state.proofs, open.proof), 'pair', 'none');
      const verifiers = replaced(state.verifiers, action.to, { ...verifier, open: undefined });
      return settle(
        configuration,
        { ...state, verifiers },
        action.to,
        open.proof,
        message,
        'arrives',
        open.judgedAt,
      );
    }
    case 'present': {
      const { proof, to, form, change, delivery } = action;
      const message = messageOf(configuration, entry(state.proofs, proof), form, change);
      const judge = judgeOf(configuration, state, to);
      const verdict = refuseHead(judge, message);
      if (verdict !== undefined) return { state, event: { verdict, message } };
      return settle(configuration, state, to, proof, message, delivery, judge.now);
    }
  }
}

function judgeOf(configuration: Configuration, { verifiers, time, keys }: State, index: number): Judge {
  const { intern, acceptV1 } = entry(configuration.verifiers, index);
  const now = time + entry(verifiers, index).clock;
  return { configuration, intern, acceptV1, keys: entry(keys, intern), now };
}

/** Verifies the signature, then asks the store, whose answer is the verdict. */
function settle(
  configuration: Configuration,
  state: State,
  to: number,
  proof: number,
  message: Message,
  delivery: Delivery,
  judgedAt: number,
): Step<State, Event> {
  const { broken } = configuration;
  const judge = judgeOf(configuration, state, to);
  let claim = claimOf(judge, message);
  let wrong = refuseSignature(judge, claim, message.v2?.signature ?? message.v1);
  if (wrong !== undefined && message.v2 !== undefined && judge.acceptV1 && broken.has('bad-v2-falls-back')) {
    claim = claimOf(judge, { ...message, v2: undefined });
    wrong = refuseSignature(judge, claim, message.v1);
  }
  const event = { message, claim, judgedAt };
  if (wrong !== undefined && !broken.has('spend-before-signature')) {
    return { state, event: { ...event, verdict: wrong } };
  }
  if (judge.now - judgedAt > STREAM && !broken.has('body-without-end')) {
    return { state, event: { ...event, verdict: 'proof_expired' } };
  }
  const asked = spendAt(configuration, state, to, claim, delivery);
  const verdict = wrong ?? asked.verdict;
  return { state: noted(asked.state, proof, claim, verdict, delivery), event: { ...event, verdict } };
}

function spendAt(
  configuration: Configuration,
  state: State,
  to: number,
  claim: Claim,
  delivery: Delivery,
): { state: State; verdict: string } {
  if (configuration.broken.has('refuses-everything')) return { state, verdict: 'nonce_replayed' };
  if (state.memory === undefined) return spendInRedis(configuration, state, to, claim, delivery);
  const wall = state.time + entry(state.verifiers, to).clock;
  const asked = spendInMemory(configuration, state.memory, { ...claim, wall, time: state.time });
  const { memory, verdict } = asked;
  return { state: memory === state.memory ? state : { ...state, memory }, verdict };
}

/** Records what the invariants need to know. */
function noted(state: State, proof: number, { version }: Claim, verdict: string, delivery: Delivery): State {
  if (verdict !== 'accepted' && delivery === 'arrives') return state;
  let { accepted, touched } = state.seen;
  if (delivery !== 'arrives' && !touched.includes(proof)) touched = [...touched, proof].sort();
  if (verdict === 'accepted') {
    const { v1, v2 } = entry(accepted, proof);
    accepted = replaced(accepted, proof, version === 1 ? { v1: v1 + 1, v2 } : { v1, v2: v2 + 1 });
  }
  return { ...state, seen: { ...state.seen, accepted, touched } };
}

function told({ state, verdict }: { state: State; verdict: string }): Step<State, Event> {
  return { state, event: { verdict } };
}

/** Verifiers with the same settings are interchangeable, so permuted states are equivalent. */
function encode({ verifiers, store }: Configuration, state: State): string {
  const isSymmetric =
    store === 'redis' && verifiers.every((told) => JSON.stringify(told) === JSON.stringify(verifiers[0]));
  if (!isSymmetric) return JSON.stringify(state);
  const { warned } = state.seen;
  const pairs = state.verifiers.map((verifier, index) => JSON.stringify([verifier, warned[index]])).sort();
  return JSON.stringify({ ...state, verifiers: pairs, seen: { ...state.seen, warned: [] } });
}
