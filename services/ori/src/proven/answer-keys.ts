import { createAnswerKeyReader } from '@ori/proof/answer-keys';
import { type KeySet, readKeySet } from '../adapters/key-set.ts';
import { CliError, isCliError } from '../core/errors.ts';
import { ANSWER_KEYS_SECONDS, ownValue } from '../core/trust.ts';
import type { Profile } from '../session/profile.ts';
import { changeTrust, readTrust } from '../session/trust.ts';
import { rootsOf } from './root.ts';

/** What was read again within this time, in seconds, and is the same, is not stored again. */
const RENEWED_SECONDS = 60;

/**
 * The keys with which the daemon of an intern proves its answers, as the API publishes them beside the intern's; none if it does not.
 * The profile keeps them, tells when they begin and end, and reads them again when they are old.
 *
 * @param ageSecondsMax of what is not read again
 */
export async function answerKeysOf(
  profile: Profile,
  { baseUrl, internId }: { readonly baseUrl: string; readonly internId: string },
  ageSecondsMax = ANSWER_KEYS_SECONDS,
): Promise<readonly string[]> {
  const { terminal, interrupted, nowSeconds } = profile;
  const { answers: kept = {}, roots = [] } = await readTrust(profile, baseUrl);
  const before = ownValue(kept, internId);
  const at = nowSeconds();
  const ageSeconds = before === undefined ? Number.POSITIVE_INFINITY : Math.abs(at - (before.at ?? at));
  if (before !== undefined && (before.at === null || ageSeconds < ageSecondsMax)) return before.x;
  const published = await readKeySet(baseUrl, internId, interrupted).catch((error) => {
    if (isCliError(error, 'interrupted') || !(error instanceof CliError)) throw error;
    return undefined;
  });
  const x = published && keysIn(published, { roots, baseUrl, internId });
  // An API that says nothing, or nothing that can be read, ends nothing.
  if (x === undefined) return before?.x ?? [];
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

/** Undefined if they cannot be read. */
function keysIn(
  { hasAnswerKeys, body, statement }: KeySet,
  {
    roots,
    ...of
  }: { readonly roots: readonly string[]; readonly baseUrl: string; readonly internId: string },
): readonly string[] | undefined {
  const hasRoot = roots.length > 0;
  if (!hasAnswerKeys && !hasRoot) return [];
  try {
    const rules = hasRoot ? { ...of, roots: rootsOf(roots) } : undefined;
    return createAnswerKeyReader(rules)({ body, statement, now: Date.now() }).keys;
  } catch {
    return undefined;
  }
}
