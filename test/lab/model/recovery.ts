import { type Action, newestPrimaryOf } from './actions.ts';
import type { Configuration } from './configuration.ts';
import type { Step } from './explore.ts';
import type { Event } from './protocol.ts';
import { entry, type State } from './state.ts';

/**
 * Repairs everything, waits for the maximum recovery time, and has a proof signed and presented to each verifier: a store
 * that refuses everything would be safe but useless.
 */
export function createRecovery(
  configuration: Configuration,
  apply: (state: State, action: Action) => Step<State, Event>,
): (state: State) => string | undefined {
  /** Many states are equal after the repair. */
  const known = new Set<string>();
  return (state) => {
    const well = repaired(state);
    const { servers, verifiers, memory, reservations, time } = well;
    const text = JSON.stringify([servers, verifiers, memory, reservations, time, state.proofs.length]);
    if (known.has(text)) return undefined;
    const why = refusesStill(configuration, well, apply);
    if (why === undefined) known.add(text);
    return why;
  };
}

function refusesStill(
  configuration: Configuration,
  state: State,
  apply: (state: State, action: Action) => Step<State, Event>,
): string | undefined {
  let well = state;
  if (state.memory === undefined) {
    for (const by of state.verifiers.keys()) well = apply(well, { do: 'touch', by }).state;
  }
  for (let unit = 0; unit < configuration.recoversWithin; unit += 1) well = apply(well, { do: 'tick' }).state;
  for (const [to, { intern }] of configuration.verifiers.entries()) {
    const issue = { intern, user: 0, body: 90 + to, path: 0, draw: 'fresh', by: 'signer' } as const;
    const signed = apply(well, { do: 'issue', issue });
    if (signed.event.verdict !== 'issued') return `a proof was not issued: ${signed.event.verdict}`;
    const proof = signed.state.proofs.length - 1;
    const presented = apply(signed.state, {
      do: 'present',
      proof,
      to,
      form: 'pair',
      change: 'none',
      delivery: 'arrives',
    });
    if (presented.event.verdict !== 'accepted') {
      return `after the last fault a fresh proof was refused: ${presented.event.verdict}`;
    }
    well = presented.state;
  }
  return undefined;
}

/** Corrects the clocks and lets all servers follow, and all verifiers reach, the newest primary. */
function repaired(state: State): State {
  const newest = newestPrimaryOf(state) ?? 0;
  const servers = state.servers.map((server, index) => ({
    ...server,
    clock: 0,
    phantoms: 0,
    evicts: false,
    cut: false,
    follows: index === newest ? undefined : newest,
    sets: entry(state.servers, newest).sets,
  }));
  const verifiers = state.verifiers.map((verifier) => ({
    ...verifier,
    clock: 0,
    server: newest,
    open: undefined,
  }));
  return { ...state, signerClock: 0, servers, verifiers };
}
