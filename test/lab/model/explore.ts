import { hash } from 'node:crypto';

/** A state machine: its initial state, the actions in each state, and their results. */
export interface Model<State, Action, Event> {
  readonly initial: State;
  /** Every possible next action, including the choices of chance and of the adversary. */
  actions(state: State): readonly Action[];
  /** The result of an action. Deterministic. */
  apply(state: State, action: Action): Step<State, Event>;
  /** States with the same encoding behave alike. */
  encode(state: State): string;
  /** Checked on every transition. Each returns the reason for a violation, or undefined. */
  readonly invariants: Readonly<Record<string, Invariant<State, Action, Event>>>;
  /** Checked once in every state. */
  readonly always: Readonly<Record<string, (state: State) => string | undefined>>;
}

export interface Step<State, Event> {
  readonly state: State;
  readonly event: Event;
}

export type Invariant<State, Action, Event> = (step: {
  readonly before: State;
  readonly action: Action;
  readonly event: Event;
  readonly state: State;
}) => string | undefined;

/** The shortest path to a state that violates an invariant. */
export interface Violation<Action> {
  readonly invariant: string;
  readonly why: string;
  readonly trace: readonly Action[];
}

export interface Exploration<Action> {
  /** The number of distinct states reached. */
  readonly states: number;
  /** The number of actions taken from them. */
  readonly transitions: number;
  /** The maximum, over all states, of the length of the shortest path. */
  readonly depth: number;
  readonly violation?: Violation<Action>;
}

/**
 * Explores every reachable state breadth first and checks every invariant on every transition. Stops at the first violation,
 * so its trace is a shortest one.
 * Throws RangeError beyond `statesMax`: an incomplete exploration must not look like a complete one.
 */
export function explore<State, Action, Event>(
  model: Model<State, Action, Event>,
  { statesMax = 1_000_000 }: { statesMax?: number } = {},
): Exploration<Action> {
  const invariants = Object.entries(model.invariants);
  const always = Object.entries(model.always);
  const digestOf = (state: State): string => hash('sha1', model.encode(state), 'base64');
  const seen = new Set([digestOf(model.initial)]);
  /** How each state was first reached: the index of the previous state, and the action. */
  const origins: ({ from: number; action: Action } | undefined)[] = [undefined];
  const traceTo = (index: number): Action[] => {
    const origin = origins[index];
    return origin === undefined ? [] : [...traceTo(origin.from), origin.action];
  };

  let frontier: { index: number; state: State }[] = [{ index: 0, state: model.initial }];
  let transitions = 0;
  let depth = 0;
  while (frontier.length > 0) {
    const reached: typeof frontier = [];
    for (const { index, state: before } of frontier) {
      for (const action of model.actions(before)) {
        const { state, event } = model.apply(before, action);
        transitions += 1;
        const violated = (invariant: string, why: string): Exploration<Action> => {
          const violation = { invariant, why, trace: [...traceTo(index), action] };
          return { states: seen.size, transitions, depth: violation.trace.length, violation };
        };
        for (const [invariant, judge] of invariants) {
          const why = judge({ before, action, event, state });
          if (why !== undefined) return violated(invariant, why);
        }
        if (state === before) continue;
        const digest = digestOf(state);
        if (seen.has(digest)) continue;
        seen.add(digest);
        if (seen.size > statesMax) throw new RangeError(`more than ${statesMax} states`);
        for (const [invariant, judge] of always) {
          const why = judge(state);
          if (why !== undefined) return violated(invariant, why);
        }
        reached.push({ index: origins.push({ from: index, action }) - 1, state });
      }
    }
    if (reached.length > 0) depth += 1;
    frontier = reached;
  }
  return { states: seen.size, transitions, depth };
}
