import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openGuardWorld } from '@ori/test-env/guard-world';
import { freePort } from '@ori/test-env/ports';
import { expect, it } from 'vitest';
import { ORI } from '../../../e2e/cli-process.ts';
import { INTERN_ID, openSignedInWorld } from '../../../e2e/cli-world.ts';
import { environmentOf } from '../mcp-world.ts';
import { buildClients } from './build-clients.ts';

/** Cells at the same time, most of which wait. */
const AT_ONCE = Number(process.env['MATRIX_AT_ONCE'] ?? 6);
const SECONDS_LONG = Number(process.env['MATRIX_SECONDS'] ?? 70);
/** A file that gets each cell as a line of JSON. */
const KEPT = process.env['MATRIX_CELLS'];
const SERVER = fileURLToPath(new URL('server.ts', import.meta.url));
const { world, home } = await openSignedInWorld();

/** What breaks some connections comes last. */
const STEPS = (cancelled: number) => [
  ['list', 'list'],
  ['call', 'call', 'echo', { text: 'hello' }],
  ['cancel', 'cancel', cancelled],
  ['after it', 'call', 'echo', { text: 'hello' }],
  [`${SECONDS_LONG} s`, 'call', 'slow', { seconds: SECONDS_LONG }],
  ['2 MB', 'call', 'big'],
  ['50 at once', 'many', 50],
  ['elicitation', 'call', 'elicit'],
  ['null id', 'call', 'null'],
  ['after null', 'call', 'echo', { text: 'hello' }],
  ['dies', 'call', 'die'],
  ['pause', 'sleep', 15],
  ['returned', 'call', 'echo', { text: 'hello' }],
];

interface Form {
  readonly sdk: 1 | 2;
  /** Who verifies; nobody for a client that connects directly. */
  readonly by?: 'verifier' | 'guard';
  readonly answers?: boolean;
}
interface Step {
  readonly step: string;
  readonly ok: boolean;
  readonly ms: number;
  readonly out: string;
}
interface Cell {
  readonly client: string;
  readonly form: Form;
  readonly steps: readonly Step[];
  readonly stderr: string;
}

const FORMS: Form[] = ([1, 2] as const).flatMap((sdk) =>
  (['verifier', 'guard'] as const).flatMap((by) => [false, true].map((answers) => ({ sdk, by, answers }))),
);
const nameOf = ({ sdk, by, answers = false }: Form) =>
  `SDK ${sdk}, ${by ?? 'direct'}${answers ? ', answers' : ''}`;

/** A server that starts again a second after its end. */
async function startServer(form: object, stack: AsyncDisposableStack): Promise<string> {
  const port = await freePort();
  let child: ChildProcess;
  let isOver = false;
  const start = () => {
    child = spawn(process.execPath, [SERVER, String(port), JSON.stringify(form)], { stdio: 'inherit' });
    child.on('exit', () => !isOver && setTimeout(() => !isOver && start(), 1000));
  };
  start();
  stack.defer(() => {
    isOver = true;
    child.kill();
  });
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (isOpen) return `http://127.0.0.1:${port}`;
    await pause(100);
  }
}

async function runCell(
  client: string,
  command: readonly string[],
  form: Form,
  cancelled: number,
): Promise<Cell> {
  await using stack = new AsyncDisposableStack();
  const { sdk, by, answers = false } = form;
  const verifying = by === 'verifier' ? { internId: INTERN_ID, jwks: world.jwks, answers } : {};
  let url = await startServer({ sdk, ...verifying }, stack);
  if (by === 'guard') {
    const env = {
      GUARD_INTERN_ID: INTERN_ID,
      GUARD_DAEMON_URL: url,
      GUARD_ANSWERS: String(answers),
      // services/guard/README.md, "An MCP server in Python".
      GUARD_DAEMON_ANSWER_MS: '310000',
    };
    url = stack.use(await openGuardWorld({ env, jwks: world.jwks })).guard.url;
  }
  const [program = '', ...args] = command;
  const env = {
    ...environmentOf(home, world, url),
    STEPS: JSON.stringify(STEPS(cancelled)),
    LIMIT: String(SECONDS_LONG + 20),
    ...(by === undefined
      ? { URL: `${url}/mcp` }
      : { COMMAND: JSON.stringify([process.execPath, ORI, 'mcp', INTERN_ID]) }),
  };
  const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
    execFile(program, args, { env, timeout: 600_000, maxBuffer: 2 ** 26 }, (_error, stdout, stderr) =>
      resolve({ stdout, stderr }),
    );
  });
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'));
  return { client, form, steps: lines.map((line) => JSON.parse(line)), stderr };
}

/** How good a step is for the client's program. */
function rankOf(step: Step | undefined): number {
  if (step === undefined) return 0;
  return step.ok ? 3 : /boom/.test(step.out) ? 2 : 1;
}

/**
 * The same as through a direct connection, where words of errors are those of the transport; or better, as clients end or go wrong
 * directly: at an error without an id (Go), at a server that has forgotten their session (all), at one that dies (Python).
 */
function compare(name: string, there: Step | undefined, here: Step | undefined): 'same' | 'better' | 'WORSE' {
  const ranks = [rankOf(there), rankOf(here)] as const;
  if (ranks[0] !== ranks[1]) return ranks[1] > ranks[0] ? 'better' : 'WORSE';
  return !here?.ok || name === 'cancel' || here.out === there?.out ? 'same' : 'WORSE';
}

it('clients see through ori mcp what they see of a direct connection', { timeout: 7_200_000 }, async () => {
  const clients = Object.entries(buildClients()).filter(
    ([name]) => process.env['MATRIX_CLIENT'] === undefined || name === process.env['MATRIX_CLIENT'],
  );
  const queue = [{ sdk: 1 }, { sdk: 2 }, ...FORMS].flatMap((form) =>
    clients.map(([name, command]) => ({ name, command, form: form as Form })),
  );
  const cells: Cell[] = [];
  const work = async () => {
    for (let one = queue.shift(); one !== undefined; one = queue.shift()) {
      const cancelled = one.form.sdk === 1 && one.form.by === 'verifier' ? 300 : 10;
      const cell = await runCell(one.name, one.command, one.form, one.form.by === undefined ? 10 : cancelled);
      cells.push(cell);
      if (KEPT !== undefined) appendFileSync(KEPT, `${JSON.stringify(cell)}\n`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));

  const worse: string[] = [];
  const rows: string[] = [];
  const names = ['connect', ...STEPS(0).map(([name]) => String(name)), 'close'];
  for (const [client] of clients) {
    const of = (form: Form) =>
      cells.find((cell) => cell.client === client && nameOf(cell.form) === nameOf(form));
    for (const form of FORMS) {
      const [direct, cell] = [of({ sdk: form.sdk }), of(form)];
      const marks = names.map((name) => {
        const [there, here] = [direct, cell].map((one) => one?.steps.find(({ step }) => step === name));
        const mark = compare(name, there, here);
        if (mark === 'WORSE')
          worse.push(`${client}, ${nameOf(form)}, ${name}: ${here?.out}; directly: ${there?.out}`);
        return mark;
      });
      const msOf = (name: string) => cell?.steps.find(({ step }) => step === name)?.ms;
      const questions = (cell?.stderr.split('asking the daemon').length ?? 0) - 1;
      rows.push([client, nameOf(form), ...marks, msOf('dies'), msOf('close'), questions].join(' | '));
    }
  }
  const head = ['client', 'form', ...names, 'ms of dies', 'ms of close', 'calls asked for'].join(' | ');
  console.log([head, ...rows, ...worse].join('\n'));
  expect(worse).toEqual([]);
});
