/** The times of a signing key, in Unix seconds; null is open. */
export interface KeyTimes {
  readonly notBefore: number;
  readonly expiresAt: number | null;
}

/**
 * The keys that may sign now, newest first. Intervals are half-open. Whoever adds a key must publish it before
 * its interval begins.
 *
 * @param now Unix seconds
 */
export function chooseKeys<K extends KeyTimes>(keys: readonly K[], now: number): K[] {
  return keys
    .filter(({ notBefore, expiresAt }) => notBefore <= now && (expiresAt === null || now < expiresAt))
    .sort((a, b) => b.notBefore - a.notBefore);
}
