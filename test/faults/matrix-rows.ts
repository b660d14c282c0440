import type { Answered, Shape } from './load.ts';
import type { Cell } from './matrix-cells.ts';

/** The answers of one cell, and when it was broken and mended, by `performance.now()`. */
export interface Observed {
  readonly answers: readonly Answered[];
  readonly brokenAt: number;
  readonly mendingAt: number;
}

/** How long the signer may go by what the database said before. */
const GATE_MEMORY_MS = 1000;

const NEEDS_ISSUER = new Set(['JWT, unknown key', 'opaque, unseen', 'interns, opaque, unseen']);

/** What the contract gives a shape while a dependency is of no use at all. */
export function deserved({ dependency, fault }: Cell, { name, well }: Shape): readonly number[] {
  // Within the cool-down the issuer is not asked about a key: to the signer it is none of the issuer's.
  const unknown = name === 'JWT, unknown key' ? [401] : [];
  const needed = {
    Redis: well === 200,
    'audit sink': well === 200,
    PostgreSQL: well !== 401,
    issuer: NEEDS_ISSUER.has(name),
  }[dependency];
  if (!needed) return [well];
  // Somebody else's answer is not that of our issuer about our token, and says that it is not ours.
  const denied = dependency === 'issuer' && fault === 'wrong answer' ? [401] : [];
  return [500, ...denied, ...unknown];
}

/** Every answer that its shape does not deserve, in words. */
export function undeserved(cell: Cell, shapes: readonly Shape[], observed: Observed): string[] {
  const { answers, brokenAt, mendingAt } = observed;
  const settledAt = brokenAt + (cell.dependency === 'PostgreSQL' ? GATE_MEMORY_MS : 0);
  const wrong = shapes.flatMap((shape) => {
    const always = deserved(cell, shape);
    const either = [...always, shape.well, ...(shape.name === 'JWT, unknown key' ? [401] : [])];
    return answers
      .filter((answered) => answered.shape === shape.name)
      .filter(({ reply, startedAt, endedAt }) => {
        const strictly = cell.total && startedAt > settledAt && endedAt < mendingAt;
        return !(strictly ? always : either).includes(reply.status);
      })
      .map(({ reply, startedAt }) => {
        const at = Math.round(startedAt - brokenAt);
        return `${shape.name}: ${reply.status} at ${at} ms of the fault: ${reply.text.slice(0, 200)}`;
      });
  });
  return wrong;
}

/** How often what was answered while the dependency was broken, as `200 x 12, 500 x 3`. */
export function summary({ answers, brokenAt, mendingAt }: Observed): string {
  const counts = new Map<number, number>();
  for (const { reply, startedAt, endedAt } of answers) {
    if (startedAt < brokenAt || endedAt > mendingAt) continue;
    counts.set(reply.status, (counts.get(reply.status) ?? 0) + 1);
  }
  return [...counts]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status} x ${count}`)
    .join(', ');
}
