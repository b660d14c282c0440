import type { InternFilter } from '../adapters/interns.ts';
import { readSmallFile } from '../adapters/private-file.ts';
import { type Context, namesFile } from './context.ts';
import { internsOf } from './intern-id.ts';

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
  if (context.json) context.terminal.printJson(names);
  else context.terminal.print(...names);
}
