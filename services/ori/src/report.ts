import { printable, printableJson, printableLines } from '@ori/faces/printable';
import { type Command, CommanderError } from 'commander';
import type { Surroundings } from './commands/context.ts';
import { CliError, isCliError } from './core/errors.ts';
import { EXIT } from './core/exit-codes.ts';
import { tell } from './text/sentences.ts';
import { red, takesColour } from './text/terminal.ts';

/** The command in the arguments, such as `ori doctor call`. */
export function named(program: Command, args: readonly string[]): string {
  let command = program;
  let path = program.name();
  for (const arg of args) {
    const sub = command.commands.find((candidate) => candidate.name() === arg);
    if (sub === undefined) continue;
    command = sub;
    path += ` ${sub.name()}`;
  }
  return path;
}

/** Converts errors of commander to usage errors, which refer to the help of the command. */
export function toFailure(error: unknown, command: string): unknown {
  const next = `See: ${command} --help`;
  if (isCliError(error, 'usage')) return new CliError('usage', { next, ...error.facts });
  if (!(error instanceof CommanderError)) return error;
  // The help for a missing command was already printed.
  if (error.code === 'commander.help') return new CliError('usage', { detail: 'Missing command.', next });
  const detail = error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
  return new CliError('usage', {
    detail: `${detail.charAt(0).toUpperCase()}${detail.slice(1).replace(/\.?$/, '.')}`,
    next,
  });
}

/** Writes a failure to stderr, as text or as JSON, and returns its exit code. */
export function report(error: unknown, { stderr, environment }: Surroundings, json: boolean): number {
  const colour = takesColour(stderr, environment);
  const name = colour ? red('ori:') : 'ori:';
  if (!(error instanceof CliError)) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const what = 'This is a defect of ori; please report it.';
    if (json)
      stderr.write(
        `${printableJson({ error: { code: 'defect', exit: EXIT.unexpected, message, next: what } })}\n`,
      );
    else stderr.write(`${name} ${what}\n${printableLines(message)}\n`);
    return EXIT.unexpected;
  }
  const { exit, what, next } = tell(error);
  if (json) {
    const { status, retryAfterSeconds, requestId, traceId } = error.facts as Partial<Record<string, unknown>>;
    const figures = { status, retry_after: retryAfterSeconds, request_id: requestId, trace_id: traceId };
    stderr.write(
      `${printableJson({ error: { code: error.code, exit, message: what, next, ...figures } })}\n`,
    );
  } else if (isCliError(error, 'interrupted')) stderr.write(`${name} Interrupted.\n`);
  else stderr.write(`${name} ${printable(what)}\n     ${printable(next)}\n`);
  return exit;
}
