import type { Intern, InternFilter } from '../adapters/interns.ts';
import type { Context } from './context.ts';
import { internsOf } from './intern-id.ts';

/** Lists the interns that the session can see. */
export async function internsList(context: Context, filter: InternFilter): Promise<void> {
  const interns = await internsOf(context, filter);
  if (context.json) context.terminal.printJson(interns);
  else if (interns.length === 0) context.terminal.note('No interns.');
  else context.terminal.printTable(HEAD, interns.map(toRow));
}

const HEAD = ['id', 'name', 'status', 'hostname', 'model'];

function toRow({ id, name, status, hostname, model }: Intern) {
  return [id, name, status, hostname, model];
}
