import { type Intern, type InternFilter, listInterns } from '../adapters/interns.ts';
import { withAccessToken } from './access.ts';
import type { Context } from './context.ts';

/** Lists the interns that the session can see. */
export async function internsList(context: Context, filter: InternFilter): Promise<void> {
  const interns = await withAccessToken(context, (session, credential) => {
    context.terminal.detail(`GET ${session.base_url}/interns`);
    return listInterns(session.base_url, credential, filter, context.interrupted);
  });
  if (context.json) context.terminal.printJson(interns);
  else if (interns.length === 0) context.terminal.note('No interns.');
  else context.terminal.printTable(HEAD, interns.map(toRow));
}

const HEAD = ['id', 'name', 'status', 'hostname', 'model'];

function toRow({ id, name, status, hostname, model }: Intern) {
  return [id, name, status, hostname, model];
}
