/** The times of a signing key, in Unix seconds; null means that it does not expire. */
export interface KeyTimes {
  readonly notBefore: number;
  readonly expiresAt: number | null;
}

/**
 * The keys that may sign now, newest first. Intervals are half-open. A key must be published
 * before its interval begins.
 *
 * @param now Unix seconds
 */
export function chooseKeys<K extends KeyTimes>(keys: readonly K[], now: number): K[] {
  return keys
    .filter(({ notBefore, expiresAt }) => notBefore <= now && (expiresAt === null || now < expiresAt))
    .sort((a, b) => b.notBefore - a.notBefore);
}
