import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ELSEWHERE } from '../vectors/elsewhere.ts';
import { SCENARIOS } from '../vectors/read.ts';
import { sentencesOfSpec } from '../vectors/sentences.ts';
import { testDaemon } from './daemon/main.ts';
import { type Driver, DriverError, startDriver } from './driver.ts';
import { drawQuestion } from './generated.ts';
import { ask, type Question, type Result } from './judge.ts';
import { exchangesOf, inPieces } from './protocol.ts';
import { TRIALS } from './races.ts';
import { table } from './report.ts';

const USAGE = `Usage: npm run conformance -- [options] <command> [arguments…]
       npm run conformance -- --daemon …: a daemon over HTTP
       npm run conformance -- --runtimes: the daemons of every runtime
  --json FILE     also write the results
  --requests N    the number of generated requests; 2,000 by default
  --seed TEXT     generate the same requests again; the seed is printed at the start
  --only TEXT     only scenarios whose title or section contains it
The protocol is described in test/conformance/README.md.`;

/** Commands sent ahead of their answers: enough to keep a program busy. */
const SCENARIOS_AHEAD = 4;

/** Sentences that only a signer or a client can meet. */
const isAboutOthers = (id: string): boolean =>
  /^[SCA]/.test(id) || ELSEWHERE[id]?.startsWith('about ') === true;

async function main(args: readonly string[]): Promise<number> {
  const { options, command } = readArguments(args);
  if (command.length === 0) {
    console.error(USAGE);
    return 2;
  }
  const seed = options.seed ?? new Date().toISOString();
  console.log(`seed ${seed}`);
  await using driver = startDriver(command);
  const { name = command.join(' '), features = [] } = await driver.ask({ do: 'hello' });
  const results: Result[] = [];
  const run = async (
    what: string,
    questions: AsyncIterable<Question> | Iterable<Question>,
  ): Promise<void> => {
    await askAll(driver, what, questions, (result) => results.push(result));
  };
  const only = (title: string, section: string): boolean =>
    options.only === undefined || `${section} ${title}`.includes(options.only);

  const scenarios = SCENARIOS.filter(({ title, section }) => only(title, section));
  const able = scenarios.filter(({ needs = [] }) => needs.every((need) => features.includes(need)));
  for (const { section, title, needs } of scenarios.filter((scenario) => !able.includes(scenario))) {
    results.push({ section, title, steps: 0, differences: [], skipped: `needs ${needs?.join(', ')}` });
  }
  const wholes = able.map((scenario) => ({ ...scenario, exchanges: exchangesOf(scenario) }));
  await run('vectors', wholes);
  await run('vectors in pieces', wholes.flatMap(toPieces));
  await run(
    'races and floods',
    TRIALS.filter(({ title, section }) => only(title, section)),
  );
  if (options.only === undefined) await run('generated requests', drawn(seed, options.requests, features));

  console.log(`\n${name}\n\n${table(results)}`);
  const failed = results.filter(({ differences }) => differences.length > 0);
  for (const { section, title, differences } of failed.slice(0, 40)) {
    console.log(`\n${section} ${title}\n  ${differences.slice(0, 4).join('\n  ')}`);
  }
  if (failed.length > 40) console.log(`\n… and ${failed.length - 40} more`);
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(results, null, 1)}\n`);
  const tried = new Set(able.flatMap(({ sentences }) => sentences));
  const left = [...sentencesOfSpec().keys()].filter((id) => !tried.has(id) && !isAboutOthers(id));
  console.log(`\nnot run: ${left.join(' ')}`);
  const steps = results.reduce((sum, result) => sum + result.steps, 0);
  console.log(
    `\n${results.length - failed.length} of ${results.length} scenarios as expected, ${steps} commands`,
  );
  return failed.length === 0 ? 0 : 1;
}

/** Options end at the command. */
function readArguments(args: readonly string[]) {
  const known = new Set(['--json', '--requests', '--seed', '--only']);
  let end = 0;
  while (known.has(args[end] ?? '')) end += 2;
  const { values } = parseArgs({
    args: args.slice(0, end),
    options: {
      json: { type: 'string' },
      requests: { type: 'string', default: '2000' },
      seed: { type: 'string' },
      only: { type: 'string' },
    },
  });
  return { options: { ...values, requests: Number(values.requests) }, command: args.slice(end) };
}

async function askAll(
  driver: Driver,
  what: string,
  questions: AsyncIterable<Question> | Iterable<Question>,
  tell: (result: Result) => void,
): Promise<void> {
  let count = 0;
  const ahead: Promise<Result>[] = [];
  const settle = async (): Promise<void> => {
    const result = await ahead.shift();
    if (result === undefined) return;
    tell(result);
    count += 1;
    if (count % 500 === 0) console.log(`${what}: ${count}`);
  };
  for await (const question of questions) {
    const asked = ask(driver, question);
    asked.catch(() => undefined);
    ahead.push(asked);
    if (ahead.length >= SCENARIOS_AHEAD) await settle();
  }
  while (ahead.length > 0) await settle();
  console.log(`${what}: ${count} scenarios`);
}

function toPieces({ exchanges, title, section }: Question, index: number): Question[] {
  const pieces = exchanges.flatMap((exchange) =>
    ['ok', 'signature_invalid'].includes(exchange.expected.verdict)
      ? inPieces(exchange, 1 + (index % 7))
      : [exchange],
  );
  return pieces.length === exchanges.length
    ? []
    : [{ section, title: `${title} (in pieces)`, exchanges: pieces }];
}

/** Draws scenarios until they have this many requests. The expected answers are those of our own verifier. */
async function* drawn(seed: string, requests: number, features: readonly string[]): AsyncGenerator<Question> {
  for (let count = 0, index = 0; count < requests; index++) {
    const question = await drawQuestion(`${seed} ${index}`, features);
    count += question.exchanges.filter(({ command }) => ['present', 'begin'].includes(command.do)).length;
    yield question;
  }
}

try {
  const [first, ...rest] = process.argv.slice(2);
  if (first === '--daemon') process.exitCode = await testDaemon(rest);
  else if (first === '--runtimes') {
    process.exitCode = await (await import('./daemon/runtimes.ts')).testRuntimes();
  } else process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof DriverError)) throw error;
  console.error(`Cannot run the command: ${error.message}.`);
  process.exitCode = 2;
}
