/** The times of a signing key, in Unix seconds; null is open. */
export interface KeyTimes {
  readonly notBefore: number;
  readonly expiresAt: number | null;
}

/**
 * The keys that may sign now, in the order in which they are tried: the newest first. Intervals are half-open. That a
 * key is published before its interval begins is the matter of whoever adds it.
 *
 * @param now Unix seconds
 */
export function chooseKeys<K extends KeyTimes>(keys: readonly K[], now: number): K[] {
  return keys
    .filter(({ notBefore, expiresAt }) => notBefore <= now && (expiresAt === null || now < expiresAt))
    .sort((a, b) => b.notBefore - a.notBefore);
}
