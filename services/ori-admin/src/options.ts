import type { Listed } from '@ori/administration/lists';
import type { Cell } from '@ori/faces/table';
import type { Database } from '@ori/store/database';
import { InvalidArgumentError } from 'commander';
import type { Command } from './command.ts';
import type { Context } from './context.ts';
import { UsageError } from './failure.ts';

/** The options of a command that lists rows, some of them filters. */
export type ListOptions<Filter extends string = never> = {
  readonly limit: number;
  readonly after?: string;
} & {
  readonly [Name in Filter]?: string;
};

/** The action of a command that lists rows, with a column for each of `cells`. */
export function listing<Options, Row>(
  query: (db: Database, options: Options) => Promise<Listed<Row>>,
  cells: (row: Row) => Readonly<Record<string, Cell>>,
): (admin: Context, options: Options) => Promise<void> {
  return async (admin, options) =>
    admin.reportList(await admin.withDatabase((db) => query(db, options)), cells);
}

export function addList(parent: Command, description: string): Command {
  return parent
    .command('list')
    .alias('ls')
    .description(description)
    .option('--limit <rows>', 'maximum number of rows', wholeNumber(1, 100_000), 500)
    .option(
      '--after <cursor>',
      'continue where a list ended; the cursor is at its end, with --json in `next`',
    );
}

export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^(0|-?[1-9]\d{0,14})$/.test(text) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
  };
}

export const unixSeconds = wholeNumber(0, 999_999_999_999);

export const toDate = (seconds: number | null): Date | null =>
  seconds === null ? null : new Date(seconds * 1000);

export function collected(value: string, former: string[] | undefined): string[] {
  return [...(former ?? []), value];
}

/** Makes a command that cannot be undone require `--yes`. @param warning by the command's first argument */
export function confirmed(command: Command, warning: (id: string) => string): Command {
  return command
    .option('--yes', 'confirm: this cannot be undone')
    .hook('preAction', ({ args: [id = ''] }) => {
      if (command.opts<{ yes?: true }>().yes) return;
      throw new UsageError(`${warning(id)} Nothing was done.`, 'To confirm, repeat with --yes.');
    });
}
