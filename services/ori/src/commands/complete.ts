import { keeperOf } from '../adapters/kept-secret.ts';
import type { Context } from '../session/context.ts';
import { internsOf } from '../session/intern-id.ts';
import { interruptedBy, openProfile, type Profile } from '../session/profile.ts';
import { keptNames } from '../session/trust.ts';
import type { Candidate } from '../text/completion.ts';
import { findProfiles } from './profiles.ts';

/** How long a Tab may take, in milliseconds. */
const PATIENCE_MS = 1500;

/** The values that complete an argument of this name. Does not throw: a shell has no place for a message. */
export async function valuesOf(context: Context, argument: string): Promise<readonly Candidate[]> {
  try {
    if (argument === 'profile' || argument === 'name') return await findProfiles(context);
    if (argument !== 'intern') return [];
    return (await internCandidates(openProfile(context))).filter(({ name }) => /^[\w.-]+$/.test(name));
  } catch {
    return [];
  }
}

/** The interns that the API lists; where asking could need a person or fails, those that the profile has called by name. */
async function internCandidates(profile: Profile): Promise<readonly Candidate[]> {
  const kept = async () => (await keptNames(profile)).map((name) => ({ name }));
  // It could be locked, and ask to be unlocked.
  if (profile.token === undefined && (await keeperOf(profile.place)) === 'keychain') return kept();
  try {
    const interns = await internsOf(interruptedBy(profile, AbortSignal.timeout(PATIENCE_MS)));
    return interns.map(({ id, name, status }) => ({ name, description: `${id}, ${status}` }));
  } catch {
    return kept();
  }
}
