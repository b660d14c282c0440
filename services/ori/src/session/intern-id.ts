import { CliError, isCliError } from '../core/errors.ts';
import { requireInternId } from '../core/proof-request.ts';
import { grantsScope, LISTING_SCOPE } from '../core/scopes.ts';
import { ownValue } from '../core/trust.ts';
import type { Intern, InternFilter } from './list-interns.ts';
import { type Profile, requireSession } from './profile.ts';
import { keepShown, readTrust } from './trust.ts';

/** Every intern that the session can see. */
export async function internsOf(profile: Profile, filter: InternFilter = {}): Promise<Intern[]> {
  const { listInterns } = await import('./list-interns.ts');
  const interns = await listInterns(profile, filter);
  const { base_url } = await requireSession(profile);
  const { interns: kept } = await readTrust(profile, base_url);
  for (const { name, id } of interns) {
    const before = ownValue(kept, name);
    if (before !== undefined && before !== id)
      profile.terminal.note(`${name} is ${before} for this profile, and ${id} in the list of the API.`);
  }
  return interns;
}

/**
 * The id of the intern that the user named, by id or by name. A text that begins with `int_` is an id and is not looked
 * up. A name is looked up once: the profile keeps its id. Throws CliError `intern_id_malformed`, `intern_not_found`, and `usage` for an ambiguous name.
 */
export async function takeInternId(profile: Profile, named: string): Promise<string> {
  if (named === '' || named.startsWith('int_')) return requireInternId(named);
  const { base_url } = await requireSession(profile);
  const kept = ownValue((await readTrust(profile, base_url)).interns, named);
  if (kept !== undefined) return kept;
  try {
    const { id } = findIntern(await internsOf(profile), named);
    if (id !== named) await keepShown(profile, base_url, { interns: { [named]: id } });
    return id;
  } catch (error) {
    // Without a list there are no names, and an id may begin differently.
    const isUnlisted = isCliError(error, 'interns_not_listed') || isCliError(error, 'scope_missing');
    if (isUnlisted) return requireInternId(named);
    throw error;
  }
}

/** The intern with this id or name. Throws CliError `intern_not_found`, and `usage` for an ambiguous name. */
export function findIntern(interns: readonly Intern[], named: string): Intern {
  const found = interns.find(({ id }) => id === named);
  if (found !== undefined) return found;
  const [first, ...more] = interns.filter(({ name }) => name === named);
  if (first === undefined) throw new CliError('intern_not_found', { internId: named });
  if (more.length > 0) {
    throw new CliError('usage', {
      detail: `${more.length + 1} interns are named ${named}.`,
      next: `Name one by its id: ${[first, ...more].map(({ id }) => id).join(', ')}`,
    });
  }
  return first;
}

/**
 * Explains why the API does not sign for an intern: one that is not running has no key. Throws CliError
 * `intern_not_running` if the list shows that, otherwise the given failure.
 */
export async function explainUnsigned(profile: Profile, internId: string, failure: unknown): Promise<never> {
  if (isCliError(failure, 'intern_not_found') && !internId.startsWith('int_')) {
    // Taken for an id, because there was no list.
    const { scope } = await requireSession(profile);
    if (grantsScope(scope, LISTING_SCOPE) === false)
      throw new CliError('name_not_resolved', { name: internId, scope: LISTING_SCOPE, ...failure.facts });
  }
  if (isCliError(failure, 'intern_not_found')) await requireKeptId(profile, internId);
  if (!isCliError(failure, 'api_misconfigured')) throw failure;
  const interns = await internsOf(profile).catch(() => []);
  const intern = interns.find(({ id }) => id === internId);
  if (intern === undefined || intern.status === 'running') throw failure;
  const why = intern.last_failure_message || undefined;
  const { status, requestId, traceId } = failure.facts;
  const facts = { status, requestId, traceId };
  throw new CliError('intern_not_running', { internId, state: intern.status, why, ...facts });
}

/** Throws CliError `intern_changed` if the API lists another intern by a name that the profile keeps for this one. */
async function requireKeptId(profile: Profile, before: string): Promise<void> {
  const { base_url } = await requireSession(profile);
  const { interns: kept } = await readTrust(profile, base_url);
  const names = Object.keys(kept).filter((name) => ownValue(kept, name) === before);
  if (names.length === 0) return;
  const listed = await internsOf(profile).catch(() => []);
  for (const { name, id: now } of listed)
    if (names.includes(name) && now !== before) throw new CliError('intern_changed', { name, before, now });
}
