import { UnavailableError } from '@ori/proof';

const LOOK_AGAIN_MS = 50;

/**
 * Looks until a look succeeds, for `withinMs` at most; 0 looks once.
 * @throws {UnavailableError} of the last look.
 * @throws {TypeError} no verifier uses the store yet, so there is nothing to be ready for.
 */
export async function waitUntilReady(look: () => Promise<void>, withinMs: number): Promise<void> {
  if (!(withinMs >= 0)) throw new TypeError('ready: expected milliseconds');
  const endMs = performance.now() + withinMs;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (!(error instanceof UnavailableError) || performance.now() + LOOK_AGAIN_MS > endMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
  }
}

/** Throws TypeError when no verifier uses the store. */
export function requireAttached(verifiers: { readonly size: number }): void {
  if (verifiers.size === 0) throw new TypeError('no verifier uses this store yet: call createVerifier first');
}
