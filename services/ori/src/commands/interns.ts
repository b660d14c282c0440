import type { Context } from './context.ts';
import { findIntern, internsOf } from './intern-id.ts';
import type { InternFilter } from './list-interns.ts';

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

/** Shows one intern, by id or by name. */
export async function internsGet(context: Context, named: string): Promise<void> {
  const intern = findIntern(await internsOf(context), named);
  const shown = Object.entries(intern).filter(([, value]) => typeof value === 'string' && value !== '');
  const width = shown.reduce((max, [name]) => Math.max(max, name.length), 0);
  context.terminal.result(intern, ...shown.map(([name, value]) => `${name.padEnd(width)}  ${value}`));
}
