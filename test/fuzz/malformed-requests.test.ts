import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Reply } from '../env/http-client.ts';
import { createPatience } from '../env/patience.ts';
import { renderTable } from '../env/text-table.ts';
import { startWorld, type World } from '../env/world.ts';
import { goodHeaders, type Malformed, malformedRequest } from './malformed-requests.ts';
import type { ValidRequest } from './valid-request.ts';

const REQUESTS = 6000;
/** Sent concurrently, each beside its twin. fast-check shrinks a failing batch to its smallest failing members. */
const AT_ONCE = 20;

let world: World;
const patience = createPatience();
const reached = new Map<string, Map<string, number>>();

beforeAll(async () => {
  world = await startWorld({ process: true });
});
afterAll(() => world[Symbol.asyncDispose]());

test(`${REQUESTS} malformed requests are refused, each beside a twin that is signed`, async () => {
  const pid = world.signer.pid;
  const bearer = await world.token({ expiresInSeconds: 3600 });
  const batch = fc.array(malformedRequest, { minLength: AT_ONCE, maxLength: AT_ONCE, size: 'max' });
  const check = fc.asyncProperty(batch, async (requests) => {
    await Promise.all(requests.map((request) => besideItsTwin(request, bearer)));
  });
  await fc.assert(check, { numRuns: REQUESTS / AT_ONCE, endOnFailure: true });
  console.log(`${renderShares()}\n${patience.repeats} twins were repeated because the machine was busy`);
  expect(world.signer.pid).toBe(pid);
  // One line per proof: nothing was signed for a refused request.
  expect((await world.audit()).trim().split('\n')).toHaveLength(REQUESTS);
  expect(unexpectedErrors(world.signer.output)).toEqual([]);
}, 300_000);

async function besideItsTwin({ kind, twin, ask }: Malformed, bearer: string): Promise<void> {
  const [refused, signed] = await Promise.all([
    world.http.ask(ask(world.signPath, bearer)),
    signTwin(twin, bearer),
  ]);
  const where = `${kind}: ${refused.status} ${refused.text}`;
  expect(refused.status, where).toBeGreaterThanOrEqual(400);
  expect(refused.status, where).toBeLessThan(500);
  expect(JSON.stringify(refused), where).not.toContain('x-ori-invoke');
  expect(signed.status, `the twin of ${where}: ${signed.text}`).toBe(200);
  const kinds = reached.get(stageOf(refused)) ?? new Map<string, number>();
  reached.set(stageOf(refused), kinds.set(kind, (kinds.get(kind) ?? 0) + 1));
}

function signTwin(twin: ValidRequest, bearer: string): Promise<Reply> {
  const good = {
    method: 'POST',
    path: world.signPath,
    headers: goodHeaders(bearer),
    body: JSON.stringify(twin),
  };
  return patience.ask(() => world.http.ask(good));
}

/** Errors in the log other than timeouts on a busy machine. */
function unexpectedErrors(output: readonly string[]): string[] {
  return output.filter((line) => line.includes('"level":"error"') && !line.includes('"DependencyError"'));
}

const STAGES = {
  parser: 'HTTP parser and framing',
  route: 'routing, gate',
  bearer: 'bearer',
  headers: 'headers of the body',
  body: 'body',
} as const;

/** How far a request got, judging by its refusal. */
function stageOf({ status, text }: Reply): string {
  if (status === 404 || status === 405) return STAGES.route;
  if (status === 401) return STAGES.bearer;
  if (status === 413 || status === 415) return STAGES.headers;
  return text.includes('"invalid_body"') ? STAGES.body : STAGES.parser;
}

function renderShares(): string {
  const rows = Object.values(STAGES).map((stage) => {
    const kinds = [...(reached.get(stage) ?? [])].sort(([, a], [, b]) => b - a);
    const sum = kinds.reduce((total, [, count]) => total + count, 0);
    const share = `${((100 * sum) / REQUESTS).toFixed(1)} %`;
    return [stage, String(sum), share, kinds.map(([kind, count]) => `${kind} ${count}`).join(', ')];
  });
  return renderTable([['refused at', 'requests', 'share', 'kinds'], ...rows]);
}
