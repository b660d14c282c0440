import { printable, printableJson, printableLines } from '@ori/faces/printable';
import { explainUsage } from '@ori/faces/usage';
import { type Command, CommanderError } from 'commander';
import { createProgram } from './command-line.ts';
import { CliError, isCliError } from './core/errors.ts';
import { EXIT } from './core/exit-codes.ts';
import type { HostEnvironment } from './session/context.ts';
import { subcommandOf } from './text/completion.ts';
import { recordOf } from './text/failure-record.ts';

/**
 * Runs one command line and resolves to its exit code. Writes to the two streams of `host`, never to
 * the console, and does not throw. The module of a command is loaded when the command runs.
 */
export async function run(args: readonly string[], host: HostEnvironment): Promise<number> {
  const json = args.includes('--json');
  const program = createProgram(host, { json });
  try {
    await program.parseAsync(args, { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError && (error.exitCode === 0 || isHelp(error, json))) return EXIT.ok;
    const { profile } = program.opts<{ profile?: string }>();
    return report(toFailure(error, named(program, args)), host, { json, profile });
  }
}

/** The command in the arguments, such as `ori doctor call`. */
function named(program: Command, args: readonly string[]): string {
  let command = program;
  let path = program.name();
  for (const arg of args) {
    const sub = subcommandOf(command, arg);
    if (sub === undefined) continue;
    command = sub;
    path += ` ${sub.name()}`;
  }
  return path;
}

/** Converts errors of commander to usage errors, which refer to the help of the command. */
function toFailure(error: unknown, command: string): unknown {
  const next = `See: ${command} --help`;
  if (isCliError(error, 'usage')) return new CliError('usage', { next, ...error.facts });
  if (!(error instanceof CommanderError)) return error;
  return new CliError('usage', { detail: `${explainUsage(error)}${meantBy(error)}`, next });
}

/** A group of commands alone, such as `ori` or `ori interns`, prints its help. */
const isHelp = ({ code }: CommanderError, json: boolean): boolean => code === 'commander.help' && !json;

/** What other tools call our commands. commander itself finds those that are spelled nearly the same. */
const MEANT: Readonly<Record<string, string>> = {
  status: 'ori whoami',
  auth: 'ori login',
  signin: 'ori login',
  config: 'ori profiles',
  context: 'ori profiles use',
  logs: 'ori log',
  list: 'ori interns list',
  ls: 'ori interns list',
  run: 'ori call',
};

function meantBy({ message }: CommanderError): string {
  const [, word = ''] = /^error: unknown (?:command|option) '([^']*)'/.exec(message) ?? [];
  const meant = Object.hasOwn(MEANT, word) && !message.includes('Did you mean') ? MEANT[word] : undefined;
  return meant === undefined ? '' : ` Did you mean ${meant}?`;
}

/** Writes a failure to stderr, as text or as JSON, and returns its exit code. */
function report(
  error: unknown,
  { stderr }: HostEnvironment,
  { json, profile }: { json: boolean; profile: string | undefined },
): number {
  const record = recordOf(error, profile);
  const { exit, message, next } = record;
  if (json) stderr.write(`${printableJson({ error: record })}\n`);
  else if (!(error instanceof CliError)) stderr.write(`ori: ${next}\n${printableLines(message)}\n`);
  else if (isCliError(error, 'interrupted')) stderr.write('ori: Interrupted.\n');
  else stderr.write(`ori: ${printable(message)}\n     ${printable(next)}\n`);
  return exit;
}
