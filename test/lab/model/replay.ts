import type { Random } from '../exactly-once/random.ts';
import { type Action, describe } from './actions.ts';
import type { Configuration } from './configuration.ts';
import { createProtocol } from './protocol.ts';
import type { RealRedis } from './real-redis.ts';
import { startRealWorld } from './real-world.ts';

/** What is not reproduced on the real server: replicas, promotions, and scripts that end half-way. */
export function isReal(action: Action): boolean {
  if (action.do === 'present') return action.delivery !== 'cut-short';
  return action.do !== 'break' || !['cut', 'promote', 'follow', 'reroute'].includes(action.fault);
}

/** The verdicts of model and implementation, action by action. */
export interface Replayed {
  readonly action: string;
  readonly model: string | undefined;
  readonly real: string | undefined;
}

/**
 * Performs the same actions on the model and on the implementation. `next` chooses from the possible ones; undefined stops. Actions on a
 * proof that was not issued are skipped.
 */
export async function replay(
  configuration: Configuration,
  server: RealRedis,
  next: (actions: readonly Action[], done: number) => Action | undefined,
): Promise<Replayed[]> {
  const model = createProtocol(configuration);
  let state = model.initial;
  const world = await startRealWorld(configuration, state, server);
  const steps: Replayed[] = [];
  try {
    for (let done = 0; ; done += 1) {
      const action = next(model.actions(state).filter(isReal), done);
      if (action === undefined) return steps;
      if ('proof' in action && action.proof >= state.proofs.length) continue;
      const step = model.apply(state, action);
      const real = await world.perform(action, step.state);
      steps.push({ action: describe(action), model: step.event.verdict, real });
      state = step.state;
    }
  } finally {
    world.close();
  }
}

/** A random walk. Each step draws the kind of action first, then the action, so that every kind occurs. */
export function wander(random: Random, steps: number): Parameters<typeof replay>[2] {
  const kindOf = (action: Action): string => action.do + ('fault' in action ? action.fault : '');
  return (actions, done) => {
    if (done === steps || actions.length === 0) return undefined;
    const kind = random.pick([...new Set(actions.map(kindOf)), 'present', 'present', 'issue']);
    const ofKind = actions.filter((action) => kindOf(action) === kind);
    return random.pick(ofKind.length > 0 ? ofKind : actions);
  };
}
