import { AdminError } from '@ori/store/writes/admin-error';
import { newId } from '@ori/store/writes/ids';
import { createPeople, type NewPerson } from '../users.ts';
import type { Add } from './change.ts';
import type { TeamState } from './state.ts';
import type { Team, TeamPerson } from './team.ts';

/** Plans the people who are not known yet, and returns a function from a person to the user's id. */
export function planPeople(
  team: Team,
  { people, members }: TeamState,
  issuer: string,
  add: Add,
): (person: TeamPerson) => string {
  const bySubject = new Map(people.flatMap(({ id, subject }) => (subject === null ? [] : [[subject, id]])));
  const byEmail = new Map(
    people.flatMap(({ id, email }) => (email === null ? [] : [[email.toLowerCase(), id]])),
  );
  const known = ({ subject, email }: TeamPerson) =>
    (subject === undefined ? undefined : bySubject.get(subject)) ??
    (email === undefined ? undefined : byEmail.get(email.toLowerCase()));
  const place = `${team.name}: `;
  const fresh: NewPerson[] = [];
  for (const person of (team.workspaces ?? []).flatMap(({ members = [] }) => members)) {
    const { subject, email, name = email ?? subject } = person;
    if (known(person) !== undefined) {
      if (subject === undefined || bySubject.has(subject)) continue;
      const advice = 'add it with `ori-admin user link`, or leave it out of the file';
      throw new AdminError(
        'conflict',
        `${place}the user with the e-mail address ${email} does not have the subject ${subject}: ${advice}`,
      );
    }
    if (subject === undefined || name === undefined) {
      throw new AdminError('not_found', `${place}no user has the e-mail address ${email}: add the subject`);
    }
    const id = newId('user');
    bySubject.set(subject, id);
    if (email !== undefined) byEmail.set(email.toLowerCase(), id);
    fresh.push({ id, name, subject, email: email ?? null });
  }
  if (fresh.length > 0) {
    const named = (team.workspaces ?? []).flatMap((one) => one.members ?? []).map(known);
    const others = members.filter(({ user_id: userId }) => !named.includes(userId)).map(({ name }) => name);
    const namesakes = fresh.filter(({ name }) => others.includes(name)).map(({ name }) => name);
    const what = `${fresh.length} ${fresh.length === 1 ? 'person' : 'people'}`;
    const warning = `; members with another subject have the same name: ${namesakes.join(', ')}`;
    add('+', namesakes.length === 0 ? what : what + warning, (db) => createPeople(db, fresh, issuer));
  }
  return (person) => {
    const id = known(person);
    if (id !== undefined) return id;
    throw new AdminError('not_found', `${place}no user has the subject ${person.subject}`);
  };
}
