import { instrumentsOf, type Registry } from '@ori/runtime/instruments';
import type { KekRing } from '@ori/sealing/kek-ring';

/** How long an answer of the database is cached, in milliseconds; a change of the ring discards it. */
const REMEMBERED_MS = 5000;

export interface KekWatchOptions {
  /** The KEKs that the database uses. @throws if it does not answer */
  readonly inUse: () => Promise<readonly string[]>;
  readonly ring: KekRing;
  readonly registry: Registry;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Compares the ring with the KEKs in use, now and while it runs. `check` rejects if the ring has none of them; if it lacks
 * only some, the metric shows it, because one bad row must not take down every signer. While the database does not answer,
 * the last comparison of the same ring counts.
 */
export function watchKeks({ inUse, ring, registry, now }: KekWatchOptions): { check(): Promise<void> } {
  let known: { readonly at: number; readonly held: string; readonly kids: readonly string[] } | undefined;

  async function kidsInUse(): Promise<readonly string[] | undefined> {
    const held = String(ring.kids);
    if (known?.held === held && Math.abs(now() - known.at) < REMEMBERED_MS) return known.kids;
    const kids = await inUse().catch(() => undefined);
    // The answer may be older than the ring: its rows may have been re-sealed before the KEK was removed.
    if (String(ring.kids) !== held) return await kidsInUse();
    if (kids !== undefined) known = { at: now(), held, kids };
    return known?.held === held ? known.kids : undefined;
  }

  const missingOf = (kids: readonly string[]) => kids.filter((kid) => !ring.kids.includes(kid));

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
      if (kids.length === 0 || missingOf(kids).length < kids.length) return;
      // This instance would fail every request, while another one may not.
      const explanation = `no key of the ring opens any signing key; those are sealed under ${kids.slice(0, 5).join(', ')}`;
      throw Object.assign(new Error(explanation), { code: 'no_kek_in_use', explanation });
    },
  };
}
