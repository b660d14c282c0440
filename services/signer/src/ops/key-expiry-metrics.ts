import { instrumentsOf, type Registry } from '@ori/runtime/instruments';
import type { KeyExpiry } from '@ori/store/signer';

/** How long a result is cached: keys expire within days, scrapes repeat within seconds. */
const REMEMBERED_MS = 60_000;

export interface KeyExpiryOptions {
  /** @throws if the database does not answer */
  readonly expiry: (options: { readonly at: number }) => Promise<KeyExpiry>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * When interns run out of signing keys: queried at a scrape, at most once a minute. Without an answer both are NaN,
 * which triggers no alert, until the next scrape queries again.
 */
export function collectKeyExpiry(registry: Registry, { expiry, now }: KeyExpiryOptions): void {
  let known: { readonly at: number; readonly answer: Promise<KeyExpiry | undefined> } | undefined;

  function read(): Promise<KeyExpiry | undefined> {
    const at = now();
    if (known !== undefined && Math.abs(at - known.at) < REMEMBERED_MS) return known.answer;
    const answer = expiry({ at: Math.floor(at / 1000) }).catch(() => {
      known = undefined;
      return undefined;
    });
    known = { at, answer };
    return answer;
  }

  const { reading } = instrumentsOf(registry);
  reading(
    'signer_signing_key_next_expiry_timestamp_seconds',
    'When the next intern will be without a signing key, in Unix seconds; +Inf: none within 30 days.',
    async () => {
      const answer = await read();
      return answer === undefined ? Number.NaN : (answer.nextExpiry ?? Number.POSITIVE_INFINITY);
    },
  );
  reading(
    'signer_interns_without_signing_key',
    'Interns whose last signing key expired within the last 30 days.',
    async () => (await read())?.expired ?? Number.NaN,
  );
}
