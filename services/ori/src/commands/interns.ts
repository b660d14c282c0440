import { findIntern, internsOf } from '../session/intern-id.ts';
import type { InternFilter } from '../session/list-interns.ts';
import type { Profile } from '../session/profile.ts';

/** Lists the interns that the session can see. */
export async function internsList(profile: Profile, filter: InternFilter): Promise<void> {
  const interns = await internsOf(profile, filter);
  if (profile.json) profile.terminal.printJson(interns);
  else if (interns.length === 0) profile.terminal.note('No interns.');
  else {
    profile.terminal.printTable(
      interns.map(({ id, name, status, hostname, model }) => ({ id, name, status, hostname, model })),
    );
  }
}

/** Shows one intern, by id or by name. */
export async function internsGet(profile: Profile, named: string): Promise<void> {
  const intern = findIntern(await internsOf(profile), named);
  const shown = Object.entries(intern).filter(([, value]) => typeof value === 'string' && value !== '');
  const width = shown.reduce((max, [name]) => Math.max(max, name.length), 0);
  profile.terminal.result(intern, ...shown.map(([name, value]) => `${name.padEnd(width)}  ${value}`));
}
