import { createAnswerKeyReader } from '@ori/proof/answer-keys';
import { z } from 'zod';
import { readKeySet } from '../adapters/key-set.ts';
import { CliError, isCliError } from '../core/errors.ts';
import { ownValue } from '../core/trust.ts';
import type { Profile } from '../session/profile.ts';
import { changeTrust, readTrust } from '../session/trust.ts';
import { rootsOf, vouchesNot } from './root.ts';

/** How old, in seconds, what was read of the keys may be: one that was removed proves nothing from then on. */
const AGE_SECONDS_MAX = 600;
/** What was read again within this time, in seconds, and is the same, is not stored again. */
const RENEWED_SECONDS = 60;
/** The public keys, and when they were read, in Unix seconds. */
const Kept = z.object({ x: z.array(z.string()), at: z.int() });

/**
 * The keys with which the daemon of an intern proves its answers, as the API publishes them beside the intern's; none if it does not.
 * The profile keeps them, tells when they begin and end, and reads them again when they are old.
 *
 * @param ageSecondsMax of what is not read again
 * @throws CliError `root_vouches_not` if there is a root and it is not known that there are any
 */
export async function answerKeysOf(
  profile: Profile,
  { baseUrl, internId }: { readonly baseUrl: string; readonly internId: string },
  ageSecondsMax = AGE_SECONDS_MAX,
): Promise<readonly string[]> {
  const { terminal, interrupted, nowSeconds } = profile;
  const { answers: kept = {}, roots = [] } = await readTrust(profile, baseUrl);
  const before = Kept.safeParse(ownValue(kept, internId)).data;
  const at = nowSeconds();
  const ageSeconds = before === undefined ? Number.POSITIVE_INFINITY : Math.abs(at - before.at);
  if (before !== undefined && ageSeconds < ageSecondsMax) return before.x;
  const published = await readKeySet(baseUrl, internId, interrupted).catch((error) => {
    if (isCliError(error, 'interrupted') || !(error instanceof CliError)) throw error;
    return undefined;
  });
  let x: readonly string[] = [];
  try {
    const rules = roots.length === 0 ? undefined : { baseUrl, internId, roots: rootsOf(roots) };
    if (published === undefined) throw new TypeError('there is no key set');
    x = createAnswerKeyReader(rules)({ ...published, now: Date.now() }).keys;
  } catch (error) {
    // An API that says nothing, or nothing that can be read, ends nothing.
    if (roots.length === 0 || before?.x.length) return before?.x ?? [];
    // Of a root, nobody else says that there are none.
    throw vouchesNot(baseUrl, error);
  }
  if (before?.x.join() === x.join() && ageSeconds < RENEWED_SECONDS) return x;
  const did = (before?.x.length ?? 0) > 0;
  if (!did && x.length > 0)
    terminal.note(`${internId} proves its answers: from now on, this profile takes no others.`);
  if (did && x.length === 0) terminal.note(`${internId} proves its answers no more, says the API.`);
  await changeTrust(profile, baseUrl, ({ answers = {} }) => ({
    answers: { ...answers, [internId]: { x, at } },
  })).catch(() => undefined);
  return x;
}
