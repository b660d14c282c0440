import type { Reply } from '../env/http-client.ts';
import type { Cell } from './matrix-cells.ts';
import { type Answered, type Shape, USED_PROOF } from './matrix-shapes.ts';

/** The answers of one cell, and when it was broken and repaired, by `performance.now()`. */
export interface Observed {
  readonly answers: readonly Answered[];
  /** Of requests that are sent for their secrets. */
  readonly toSecrets: readonly Reply[];
  readonly brokenAt: number;
  readonly mendingAt: number;
}

/** How long the signer may use cached facts. */
export const GATE_MEMORY_MS = 1000;

const NEEDS_ISSUER = new Set(['JWT, unknown key', 'opaque, unseen', 'interns, opaque, unseen']);

const GUARDRAILS = new Set(['a guardrail', 'a new guardrail', 'a guardrail, of another account']);

/** The cool-down after a fetch from the issuer, and the maximum time of a fetch. */
const COOL_DOWN_MS = 1000 + 800;

/** The statuses that the contract allows for a kind of request while a dependency is unusable. */
export function deserved({ dependency, fault }: Cell, { name, well }: Shape): readonly number[] {
  const needed = {
    Redis: well === 200 || name === USED_PROOF,
    PostgreSQL: well !== 401,
    issuer: NEEDS_ISSUER.has(name),
  }[dependency];
  if (!needed) return [well];
  // Guardrails say that we have too little; the other tables are closed, and have 500 for it.
  // A wrong answer is an outage where the driver notices it, and an unknown failure where it does not.
  if (GUARDRAILS.has(name)) return fault === 'wrong answer' ? [503, 500] : [503];
  // A response from another issuer may be ignored, or may show that the token is not ours.
  return dependency === 'issuer' && fault === 'wrong answer' ? [500, 401] : [500];
}

/** A description of every answer that the contract does not allow. */
export function undeserved(cell: Cell, shapes: readonly Shape[], observed: Observed): string[] {
  const { answers, brokenAt, mendingAt } = observed;
  const memoryMs = cell.dependency === 'PostgreSQL' ? GATE_MEMORY_MS : 0;
  return shapes.flatMap((shape) => {
    const isUnknown = shape.name === 'JWT, unknown key';
    const settledAt = brokenAt + Math.max(memoryMs, isUnknown ? COOL_DOWN_MS : 0);
    const always = deserved(cell, shape);
    // In the cool-down after a successful fetch, the signer assumes that the issuer has no other key.
    const isForgotten = shape.name === USED_PROOF && cell.forgets === true;
    const either = [...always, shape.well, ...(isUnknown ? [401] : []), ...(isForgotten ? [200] : [])];
    return answers
      .filter((answered) => answered.shape === shape.name)
      .filter(({ reply, startedAt, endedAt }) => {
        const strictly = startedAt > settledAt && endedAt < mendingAt;
        return !(strictly ? always : either).includes(reply.status);
      })
      .map(({ reply, startedAt }) => {
        const at = Math.round(startedAt - brokenAt);
        return `${shape.name}: ${reply.status} at ${at} ms of the fault: ${reply.text.slice(0, 200)}`;
      });
  });
}
