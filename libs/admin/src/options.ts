import { type Command, InvalidArgumentError } from 'commander';
import { UsageError } from './failure.ts';

export interface ListOptions {
  readonly limit: number;
}

/** Options of commands that list rows. */
export function addList(parent: Command, description: string): Command {
  return parent
    .command('list')
    .description(description)
    .option('--limit <rows>', 'maximum number of rows', wholeNumber(1, 100_000), 500);
}

/** A whole number from `min` to `max`, in decimal. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^(0|-?[1-9]\d{0,14})$/.test(text) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
  };
}

export const unixSeconds = wholeNumber(0, 999_999_999_999);

/** An option that may be given several times. */
export function collected(value: string, former: string[] | undefined): string[] {
  return [...(former ?? []), value];
}

/** Adds `--yes` to a command that cannot be undone. */
export function addYes(command: Command): Command {
  return command.option('--yes', 'confirm: this cannot be undone');
}

/** @throws UsageError without `--yes` */
export function requireYes({ yes }: { readonly yes?: true }, what: string): void {
  if (!yes) throw new UsageError(`${what} Nothing was done.`, 'To confirm, repeat with --yes.');
}
