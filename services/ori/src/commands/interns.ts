import type { InternFilter } from '../adapters/interns.ts';
import { readSmallFile } from '../adapters/private-file.ts';
import { type Context, namesFile } from './context.ts';
import { findIntern, internsOf } from './intern-id.ts';

/** Lists the interns that the session can see. */
export async function internsList(context: Context, filter: InternFilter): Promise<void> {
  const interns = await internsOf(context, filter);
  if (context.json) context.terminal.printJson(interns);
  else if (interns.length === 0) context.terminal.note('No interns.');
  else {
    context.terminal.printTable(
      interns.map(({ id, name, status, hostname, model }) => ({ id, name, status, hostname, model })),
    );
  }
}

/** Prints the names that the session saw last, for the completion of a shell: it waits for nothing. */
export function internNames(context: Context): void {
  const names = readSmallFile(namesFile(context))?.split('\n').filter(Boolean) ?? [];
  context.terminal.result(names, ...names);
}

/** Shows one intern, by id or by name. */
export async function internsGet(context: Context, named: string): Promise<void> {
  const intern = findIntern(await internsOf(context), named);
  const shown = Object.entries(intern).filter(([, value]) => typeof value === 'string' && value !== '');
  const width = Math.max(...shown.map(([name]) => name.length));
  context.terminal.result(intern, ...shown.map(([name, value]) => `${name.padEnd(width)}  ${value}`));
}
