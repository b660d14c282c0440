import { type Intern, type InternFilter, listInterns } from '../adapters/interns.ts';
import { withAccessToken } from './access.ts';
import type { Context } from './context.ts';

/** Lists the interns that the session may see. */
export async function internsList(context: Context, filter: InternFilter): Promise<void> {
  const interns = await withAccessToken(context, (session) => {
    context.terminal.detail(`GET ${session.base_url}/interns`);
    return listInterns(session.base_url, session.access_token, filter, context.interrupted);
  });
  if (context.json) context.terminal.printJson(interns);
  else if (interns.length === 0) context.terminal.note('No interns.');
  else context.terminal.print(...table(interns));
}

function table(interns: readonly Intern[]): string[] {
  const rows = [
    ['ID', 'NAME', 'STATUS', 'HOSTNAME', 'MODEL'],
    ...interns.map(({ id, name, status, hostname, model }) => [
      id,
      name,
      status,
      hostname ?? '-',
      model ?? '-',
    ]),
  ];
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
