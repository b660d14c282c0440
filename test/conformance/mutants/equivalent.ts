/**
 * Changes that are no bugs: no request, key set or configuration can tell them from the sound verifier. A part of the line, and the
 * replacement where only one of them is meant.
 */
export const EQUIVALENT: readonly (readonly [file: string, line: string, to?: string])[] = [];
