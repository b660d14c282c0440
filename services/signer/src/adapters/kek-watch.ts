import { instrumentsOf, type Registry } from '@ori/runtime/instruments';
import type { KekRing } from '@ori/store/sealing';

/** How long an answer of the database is used, in milliseconds; not beyond a change of the ring. */
const REMEMBERED_MS = 5000;

export interface KekWatchOptions {
  /** The KEKs that the database uses. @throws if it does not answer */
  readonly inUse: () => Promise<readonly string[]>;
  readonly ring: KekRing;
  readonly registry: Registry;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The ring holds none of the KEKs in use: this instance would fail every request, and another one may not. */
class NoKekInUse extends Error {
  readonly code = 'no_kek_in_use';
  readonly explanation: string;

  constructor(kids: readonly string[]) {
    const explanation = `no key of the ring opens any signing key; those are sealed under ${kids.slice(0, 5).join(', ')}`;
    super(explanation);
    this.name = 'NoKekInUse';
    this.explanation = explanation;
  }
}

/**
 * Compares the ring with the KEKs in use, now and while it runs. `check` rejects if the ring holds none of them; a ring
 * that lacks some only shows in the metric, because one bad row must not take every signer away. While the database
 * does not answer, the last comparison of the same ring counts.
 */
export function watchKeks({ inUse, ring, registry, now }: KekWatchOptions): { check(): Promise<void> } {
  let known: { readonly at: number; readonly held: string; readonly kids: readonly string[] } | undefined;

  async function kidsInUse(): Promise<readonly string[] | undefined> {
    const held = String(ring.kids);
    if (known?.held === held && now() - known.at < REMEMBERED_MS) return known.kids;
    const kids = await inUse().catch(() => undefined);
    // The answer may be older than the ring: what it names was perhaps re-sealed before the KEK was removed.
    if (String(ring.kids) !== held) return await kidsInUse();
    if (kids !== undefined) known = { at: now(), held, kids };
    return known?.held === held ? known.kids : undefined;
  }

  // The database may give the start of a kid that is longer than ours.
  const missingOf = (kids: readonly string[]) =>
    kids.filter(
      (kid) => !ring.kids.some((held) => held === kid || (kid.length > 23 && held.startsWith(kid))),
    );

  instrumentsOf(registry).reading(
    'signer_keks_missing',
    'KEKs in use that the ring of this instance lacks; NaN while the database has not answered for this ring.',
    async () => {
      const kids = await kidsInUse();
      return kids === undefined ? Number.NaN : missingOf(kids).length;
    },
  );
  return {
    async check() {
      const kids = (await kidsInUse()) ?? [];
      if (kids.length > 0 && missingOf(kids).length === kids.length) throw new NoKekInUse(kids);
    },
  };
}
