import type { Change, Configuration, Delivery, Fault, Form, Issue } from './configuration.ts';
import { entry, type State } from './state.ts';

/** One transition, including every choice of chance and of the adversary. */
export type Action =
  | { readonly do: 'issue'; readonly issue: Issue }
  | Presentation
  | { readonly do: 'begin'; readonly to: number; readonly proof: number }
  | { readonly do: 'finish'; readonly to: number }
  | { readonly do: 'touch'; readonly by: number }
  | { readonly do: 'tick' }
  | Break;

export interface Presentation {
  readonly do: 'present';
  readonly proof: number;
  readonly to: number;
  readonly form: Form;
  readonly change: Change;
  readonly delivery: Delivery;
}

/** `who` is a verifier or a server; `value` is a clock, or the server to follow or reach. */
export interface Break {
  readonly do: 'break';
  readonly fault: Fault;
  readonly who?: number;
  readonly value?: number;
}

export function describe(action: Action): string {
  const { do: name, ...rest } = action;
  const words = Object.values({ ...rest, ...('issue' in rest ? { ...rest.issue, issue: '' } : {}) });
  return [name, ...words.filter((word) => word !== '')].join(' ');
}

export function actionsOf(configuration: Configuration, state: State): Action[] {
  const { proofs, verifiers, time } = state;
  const { forms, changes, answers } = configuration;
  const actions: Action[] = [];
  if (time < configuration.timeMax && !isBehindSinceBirth(state)) actions.push({ do: 'tick' });
  if (proofs.length < configuration.proofsMax) {
    for (const issue of configuration.issues) actions.push({ do: 'issue', issue });
  }
  for (const [to, { open }] of verifiers.entries()) {
    if (configuration.store === 'redis') actions.push({ do: 'touch', by: to });
    if (open !== undefined) actions.push({ do: 'finish', to });
    for (const proof of proofs.keys()) {
      const present = { do: 'present', proof, to } as const;
      for (const form of forms) {
        for (const change of changes) actions.push({ ...present, form, change, delivery: 'arrives' });
        for (const delivery of answers) actions.push({ ...present, form, change: 'none', delivery });
      }
      if (configuration.streams && open === undefined) actions.push({ do: 'begin', to, proof });
    }
  }
  if (state.faultsLeft > 0) actions.push(...breaksOf(configuration, state));
  return actions;
}

/** A machine that starts with a slow clock corrects it before it continues. */
function isBehindSinceBirth({ memory, verifiers }: State): boolean {
  return memory !== undefined && memory.born.wall < memory.born.time && entry(verifiers, 0).clock < 0;
}

function breaksOf({ faults, clocks }: Configuration, state: State): Break[] {
  const { servers, verifiers } = state;
  const of = (fault: Fault, rest: Partial<Break> = {}): Break => ({ do: 'break', fault, ...rest });
  const primaries = [...servers.keys()].filter((index) => entry(servers, index).follows === undefined);
  const replicas = [...servers.keys()].filter((index) => !primaries.includes(index));
  /** Neither verifiers nor servers return to a replaced primary until it has followed the new one. */
  const newest = newestPrimaryOf(state);
  return faults.flatMap((fault): Break[] => {
    switch (fault) {
      case 'flush':
      case 'crash':
      case 'swap':
      case 'policy':
        return primaries.map((who) => of(fault, { who }));
      case 'restart':
        return state.memory ? [of(fault)] : [...verifiers.keys()].map((who) => of(fault, { who }));
      case 'cut':
        return replicas.filter((who) => !entry(servers, who).cut).map((who) => of(fault, { who }));
      case 'promote':
        return replicas.map((who) => of(fault, { who }));
      case 'follow':
        return [...servers.keys()]
          .filter((who) => !servers.some(({ follows }) => follows === who))
          .flatMap((who) =>
            primaries
              .filter((value) => value !== who && value === newest)
              .map((value) => of(fault, { who, value })),
          );
      case 'reroute':
        return [...verifiers.entries()].flatMap(([who, { server }]) =>
          primaries.filter((value) => value !== server).map((value) => of(fault, { who, value })),
        );
      case 'verifier-clock':
        return (state.memory ? [0] : [...verifiers.keys()]).flatMap((who) =>
          clocks
            .filter((value) => value !== entry(verifiers, who).clock)
            .map((value) => of(fault, { who, value })),
        );
      case 'signer-clock':
        return [-1, 0, 1].filter((value) => value !== state.signerClock).map((value) => of(fault, { value }));
      case 'all-clocks':
        return clocks.filter((value) => value !== state.signerClock).map((value) => of(fault, { value }));
    }
    return [];
  });
}

/** The most recently promoted primary. */
export function newestPrimaryOf({ servers }: State): number | undefined {
  const idOf = (index: number): number => entry(servers, index).replicationId;
  return [...servers.keys()]
    .filter((index) => entry(servers, index).follows === undefined)
    .sort((a, b) => idOf(b) - idOf(a))[0];
}
