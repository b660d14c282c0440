import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Command, Verdict } from './protocol.ts';

/** A program that answers commands. */
export interface Driver extends AsyncDisposable {
  ask(command: Command): Promise<Verdict>;
}

/** The program exited, did not answer in time, or sent an invalid answer. */
export class DriverError extends Error {
  override readonly name = 'DriverError';
}

const ANSWER_MS = 10_000;
/** A JVM or an interpreter starts before the first answer. */
const FIRST_ANSWER_MS = 60_000;

interface Asked {
  resolve(answer: Verdict): void;
  reject(error: DriverError): void;
}

/** Starts a program that speaks the protocol of README.md. Commands may be sent before earlier ones are answered. */
export function startDriver(
  [command = '', ...args]: readonly string[],
  stderr: 'inherit' | 'ignore' = 'inherit',
): Driver {
  const program = spawn(command, args, { stdio: ['pipe', 'pipe', stderr] });
  const waiting: Asked[] = [];
  let failure: DriverError | undefined;
  let timer: NodeJS.Timeout | undefined;
  let limitMs = FIRST_ANSWER_MS;

  function fail(why: string): void {
    failure ??= new DriverError(why);
    clearTimeout(timer);
    for (const { reject } of waiting.splice(0)) reject(failure);
    program.kill();
  }

  function watch(): void {
    clearTimeout(timer);
    if (waiting.length > 0) timer = setTimeout(() => fail(`no answer within ${limitMs} ms`), limitMs);
  }

  createInterface({ input: program.stdout }).on('line', (line) => {
    const next = waiting.shift();
    limitMs = ANSWER_MS;
    if (next === undefined) return fail(`an answer without a command: ${line.slice(0, 200)}`);
    watch();
    const answer = readAnswer(line);
    if (answer !== undefined) return next.resolve(answer);
    waiting.unshift(next);
    fail(`an invalid answer: ${line.slice(0, 200)}`);
  });
  program.on('error', (error) => fail(error.message));
  program.on('exit', (code, signal) => fail(`the program exited (${signal ?? code})`));
  program.stdin.on('error', () => fail('the program closed its input'));

  return {
    ask(asked) {
      if (failure !== undefined) return Promise.reject(failure);
      return new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        if (waiting.length === 1) watch();
        program.stdin.write(`${toAscii(JSON.stringify(asked))}\n`);
      });
    },
    [Symbol.asyncDispose]: () => ended(program),
  };
}

async function ended(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return;
  const exit = new Promise((resolve) => program.once('exit', resolve));
  program.stdin?.end();
  const timer = setTimeout(() => program.kill('SIGKILL'), 1000);
  await exit;
  clearTimeout(timer);
}

function toAscii(json: string): string {
  return json.replaceAll(
    /[\x7f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function readAnswer(line: string): Verdict | undefined {
  try {
    const answer: unknown = JSON.parse(line);
    const isAnswer = typeof answer === 'object' && answer !== null && 'verdict' in answer;
    return isAnswer && typeof answer.verdict === 'string' ? (answer as Verdict) : undefined;
  } catch {
    return undefined;
  }
}
