import type { Break } from './actions.ts';
import type { Configuration } from './configuration.ts';
import { createMemory } from './memory-store.ts';
import { touchRedis } from './redis-client.ts';
import { EMPTY_SET, entry, replaced, type Server, type State, type Verifier } from './state.ts';

/** No fence is known. */
export const NO_FENCE = -99;

/** Faults and their immediate effects. The protocol is not informed. */
export function breakSomething(configuration: Configuration, state: State, action: Break): State {
  const left = { ...state, faultsLeft: state.faultsLeft - 1, seen: { ...state.seen, faultAt: state.time } };
  return cause(configuration, left, action);
}

function cause(configuration: Configuration, state: State, { fault, who = 0, value = 0 }: Break): State {
  switch (fault) {
    case 'flush':
      return lose(changed(state, who, { sets: emptied(state, who) }), who);
    case 'crash':
      return lose(
        changed(state, who, {
          sets: emptied(state, who),
          aside: emptied(state, who),
          replicationId: nextIdOf(state),
          evicts: false,
        }),
        who,
      );
    case 'swap': {
      // The swap lasts: every verifier checks the server before the next fault.
      const { sets, aside } = entry(state.servers, who);
      const swapped = changed(state, who, { sets: aside, aside: sets });
      return [...state.verifiers.keys()].reduce((sofar, by) => touchRedis(configuration, sofar, by), swapped);
    }
    case 'policy':
      return changed(state, who, { evicts: !entry(state.servers, who).evicts });
    case 'restart':
      return restart(configuration, state, who);
    case 'cut':
      return changed(state, who, { cut: true });
    case 'promote':
      return changed(abandoned(state, who), who, {
        follows: undefined,
        cut: false,
        replicationId: nextIdOf(state),
      });
    case 'follow':
      return changed(abandoned(state, who), who, {
        follows: value,
        cut: false,
        phantoms: 0,
        sets: entry(state.servers, value).sets,
      });
    case 'reroute':
      return changedVerifier(state, who, { server: value });
    case 'verifier-clock':
      if (state.memory === undefined) return changedVerifier(state, who, { clock: value });
      return { ...state, verifiers: state.verifiers.map((verifier) => ({ ...verifier, clock: value })) };
    case 'signer-clock':
      return { ...state, signerClock: value };
    case 'all-clocks':
      return {
        ...state,
        signerClock: value,
        verifiers: state.verifiers.map((verifier) => ({ ...verifier, clock: value })),
        servers: state.servers.map((server) => ({ ...server, clock: value })),
      };
  }
}

function restart(configuration: Configuration, state: State, who: number): State {
  if (state.memory === undefined) {
    const fresh = changedVerifier(state, who, { newest: NO_FENCE, refuses: false, open: undefined });
    return { ...fresh, seen: { ...fresh.seen, warned: replaced(fresh.seen.warned, who, false) } };
  }
  const born = { wall: state.time + entry(state.verifiers, 0).clock, time: state.time };
  return {
    ...state,
    memory: createMemory(configuration, born),
    verifiers: state.verifiers.map((verifier) => ({ ...verifier, open: undefined })),
  };
}

function nextIdOf({ servers }: State): number {
  return Math.max(...servers.map(({ replicationId }) => replicationId)) + 1;
}

function emptied({ servers }: State, who: number): Server['sets'] {
  return entry(servers, who).sets.map(() => EMPTY_SET);
}

/** Replicas copy the loss too, and reservations are lost with the server. */
function lose(state: State, who: number): State {
  const { sets } = entry(state.servers, who);
  return {
    ...state,
    servers: state.servers.map((server) =>
      server.follows === who && !server.cut ? { ...server, sets } : server,
    ),
    reservations: [],
    seen: { ...state.seen, reservationsLost: true },
  };
}

/** A primary that is cut off from a replica does not notice its loss. */
function abandoned(state: State, who: number): State {
  const { follows, cut } = entry(state.servers, who);
  if (follows === undefined || !cut) return state;
  return changed(state, follows, { phantoms: entry(state.servers, follows).phantoms + 1 });
}

function changed(state: State, who: number, change: Partial<Server>): State {
  const server = { ...entry(state.servers, who), ...change };
  return { ...state, servers: replaced(state.servers, who, server) };
}

function changedVerifier(state: State, who: number, change: Partial<Verifier>): State {
  const verifier = { ...entry(state.verifiers, who), ...change };
  return { ...state, verifiers: replaced(state.verifiers, who, verifier) };
}
