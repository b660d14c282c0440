import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { inLanes } from '@ori/test-env/in-lanes';
import { prepareLaunches } from '../../runtimes/daemons.ts';
import { buildNext, JWKS_URL, setUpRuntimes } from '../../runtimes/setup.ts';
import { INTERN_ID } from '../../vectors/scenario.ts';
import { openAsgi, openPorts } from '../../wings/ports/open-ports.ts';
import { startKeyServer } from './key-server.ts';
import { linesOf } from './lines.ts';
import { type Outcome, runSuite, type SuiteOptions, startedBy } from './suite.ts';

/** A column of the table in README.md, and how to start its daemon. */
export interface Cell {
  readonly name: string;
  readonly isFetch: boolean;
  readonly bodyBytesMax: number;
  readonly command: readonly string[];
}

/** By sentence of SPEC.md: `ok`, `unseen`, or what failed. */
export type States = Readonly<Record<string, string>>;

const LAUNCH = fileURLToPath(new URL('../../runtimes/launch.ts', import.meta.url));
const README = new URL('../README.md', import.meta.url);
const HEAD = '| Sentences |';
/** Of the table of daemons with an answer key. */
export const HEAD_WITH_KEY = '| With an answer key |';

function launched(name: string, runtime: string, adapter: string, isFetch = false): Cell {
  const command = [process.execPath, LAUNCH, runtime, adapter, '{intern}', '{jwks}'];
  return { name, isFetch, bodyBytesMax: 100_000, command };
}

/** The adapters of @ori/verifier. */
export const RUNTIME_CELLS: readonly Cell[] = [
  ...['node:http', 'Express', 'Fastify', 'Koa', 'Hono', 'Fetch'].map((name) =>
    launched(name, 'Node 24', name.replace('node:http', 'node').toLowerCase()),
  ),
  launched('Next', 'Node 24', 'next', true),
  ...['Bun', 'Deno', 'workerd'].map((name) => launched(name, name, 'fetch', true)),
];

/** Each server once: the adapters that are left out see what node:http shows. */
export const SERVER_CELLS: readonly Cell[] = RUNTIME_CELLS.filter(({ name }) =>
  ['node:http', 'Next', 'Bun', 'Deno', 'workerd'].includes(name),
);

/** The ports whose toolchains are installed. */
export function portCells(): Cell[] {
  const asgi = openAsgi();
  return [...openPorts(), ...(asgi === undefined ? [] : [asgi])].map(({ name, daemon }) => ({
    name: name.replace(' port', ''),
    isFetch: name === 'ASGI',
    bodyBytesMax: 1_000_000,
    command: daemon('{intern}', '{jwks}'),
  }));
}

/** How many daemons can be tested at a time without a check that is late. */
export const LANES = 4;

/** Runs the suite against one daemon. */
export async function judgeCell(
  { isFetch, bodyBytesMax, command }: Cell,
  leftOut: SuiteOptions['leftOut'] = ['races'],
): Promise<States> {
  await using keyServer = await startKeyServer();
  const options = { path: '/api/invoke', bodyBytesMax, isFetch, only: undefined, leftOut };
  return statesOf(await runSuite(startedBy(command, keyServer, 'ignore'), options, () => {}));
}

/** Runs what the suite has about answers and their proofs against one daemon, which gets an answer key. */
export async function judgeAnswers({ isFetch, bodyBytesMax, command }: Cell): Promise<States> {
  await using keyServer = await startKeyServer();
  const withKey = ['env', `ANSWER_KEY=${randomBytes(32).toString('base64url')}`, ...command];
  const options = { path: '/api/invoke', bodyBytesMax, isFetch, only: undefined };
  const leftOut = ['slow', 'key sets', 'requests', 'races'] as const;
  const daemons = startedBy(withKey, keyServer, 'ignore');
  return statesOf(await runSuite(daemons, { ...options, answers: true, proofs: true, leftOut }, () => {}));
}

function statesOf(outcomes: readonly Outcome[]): States {
  const judged = linesOf(outcomes).filter(({ state }) => state !== 'not run');
  return Object.fromEntries(
    judged.map(({ id, state, detail }) => [id, state === 'FAILED' ? `FAILED ${detail}` : state]),
  );
}

/** A row for each set of sentences whose cells are the same. */
export function renderStates(columns: ReadonlyMap<string, States>, heading: string): string {
  const ids = Object.keys([...columns.values()][0] ?? {});
  const cellsOf = (id: string): string => [...columns.values()].map((states) => states[id]).join(' | ');
  const rows = [...Map.groupBy(ids, cellsOf)].map(([cells, those]) => `| ${those.join(', ')} | ${cells} |`);
  const head = `${heading} ${[...columns.keys()].join(' | ')} |`;
  return [head, head.replaceAll(/[^|]+/g, ' --- '), ...rows].join('\n');
}

/** A table of README.md. */
export async function readStates(heading = HEAD): Promise<ReadonlyMap<string, States>> {
  const text = await readFile(README, 'utf8');
  const [table = ''] = text.slice(text.indexOf(heading)).split('\n\n');
  const [head = [], , ...rows] = table.split('\n').map((line) => line.slice(2, -2).split(' | '));
  const columnOf = (index: number): States =>
    Object.fromEntries(rows.flatMap((row) => (row[0] ?? '').split(', ').map((id) => [id, row[index] ?? ''])));
  return new Map(head.slice(1).map((name, index) => [name, columnOf(index + 1)]));
}

/** Installs and builds what the cells need, runs them all, and prints the tables. Returns the exit status. */
export async function testRuntimes(): Promise<number> {
  await setUpRuntimes();
  await buildNext({ INTERN_ID, JWKS_URL, NEXT_TELEMETRY_DISABLED: '1' });
  await prepareLaunches(INTERN_ID);
  const differ = [
    await compare([...RUNTIME_CELLS, ...portCells()], judgeCell, HEAD),
    await compare(SERVER_CELLS, judgeAnswers, HEAD_WITH_KEY),
  ];
  return differ.includes(true) ? 1 : 0;
}

/** Runs cells and prints their table; whether one differs from README.md. */
async function compare(
  cells: readonly Cell[],
  judge: (cell: Cell) => Promise<States>,
  heading: string,
): Promise<boolean> {
  const expected = await readStates(heading);
  const columns = new Map<string, States>();
  let different = 0;
  await inLanes(cells.length, LANES, async (index) => {
    const cell = cells[index] as Cell;
    const states = await judge(cell);
    columns.set(cell.name, states);
    const isAsExpected = isDeepStrictEqual(states, expected.get(cell.name));
    if (!isAsExpected) different += 1;
    console.log(`${cell.name}: ${isAsExpected ? 'as in the table' : 'DIFFERS from the table'}`);
  });
  const ordered = cells.map(({ name }) => [name, columns.get(name) ?? {}] as const);
  console.log(`\n${renderStates(new Map(ordered), heading)}`);
  return different > 0;
}
