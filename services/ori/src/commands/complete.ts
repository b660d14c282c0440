import { keeperOf } from '../adapters/kept-secret.ts';
import type { Candidate } from '../text/completion.ts';
import { type Context, sessionPlace, variable } from './context.ts';
import { internsOf } from './intern-id.ts';
import { findProfiles } from './profiles.ts';
import { keptNames } from './trust.ts';

/** How long a Tab may take, in milliseconds. */
const PATIENCE_MS = 1500;

/** The values that complete an argument of this name. Does not throw: a shell has no place for a message. */
export async function valuesOf(context: Context, argument: string): Promise<readonly Candidate[]> {
  try {
    if (argument === 'profile' || argument === 'name') return await findProfiles(context);
    if (argument !== 'intern') return [];
    return (await internCandidates(context)).filter(({ name }) => /^[\w.-]+$/.test(name));
  } catch {
    return [];
  }
}

/** The interns that the API lists; where asking could need a person or fails, those that the profile has called by name. */
async function internCandidates(context: Context): Promise<readonly Candidate[]> {
  const kept = async () => (await keptNames(context)).map((name) => ({ name }));
  const isAsked = variable(context, 'ORI_TOKEN') === undefined;
  // It could be locked, and ask to be unlocked.
  if (isAsked && (await keeperOf(sessionPlace(context))) === 'keychain') return kept();
  const interrupted = AbortSignal.any([context.interrupted, AbortSignal.timeout(PATIENCE_MS)]);
  try {
    const interns = await internsOf({ ...context, interrupted });
    return interns.map(({ id, name, status }) => ({ name, description: `${id}, ${status}` }));
  } catch {
    return kept();
  }
}
