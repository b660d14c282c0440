import { createHash } from 'node:crypto';
import type { Database } from '@ori/store/database';
import type { IconMediaType } from '@ori/store/schema';
import { AdminError } from '@ori/store/writes/admin-error';
import { sql } from 'kysely';
import { changeRow } from './change-row.ts';

export const ICON_BYTES_MAX = 1_048_576;

/** The first bytes of each file type; null: any byte. */
const SIGNATURES: readonly (readonly [IconMediaType, readonly (number | null)[]])[] = [
  ['image/png', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ['image/jpeg', [0xff, 0xd8, 0xff]],
  ['image/webp', [0x52, 0x49, 0x46, 0x46, null, null, null, null, 0x57, 0x45, 0x42, 0x50]],
];

/** The image type of the bytes; undefined if it is not allowed for an icon. */
export function iconTypeOf(bytes: Uint8Array): IconMediaType | undefined {
  const isBegunBy = (signature: readonly (number | null)[]) =>
    signature.every((byte, index) => byte === null || byte === bytes[index]);
  return SIGNATURES.find(([, signature]) => isBegunBy(signature))?.[0];
}

/**
 * Replaces the intern's icon; `sha256` is the hash that names it from then on.
 *
 * @throws AdminError `invalid_input` for bytes that are no image of an allowed type, or too many; `not_found`
 */
export async function setIcon(
  db: Database,
  { internId, bytes }: { readonly internId: string; readonly bytes: Uint8Array },
): Promise<{ sha256: string; mediaType: IconMediaType }> {
  const mediaType = iconTypeOf(bytes);
  if (mediaType === undefined || bytes.length > ICON_BYTES_MAX) {
    const expected = `expected PNG, JPEG or WebP of at most ${ICON_BYTES_MAX} bytes`;
    throw new AdminError('invalid_input', `icon: ${expected}; SVG can contain scripts`);
  }
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await db.kysely.transaction().execute(async (tx) => {
    const change = sql`update interns set icon_sha256 = ${sha256}, updated_at = now() where id = ${internId}`;
    await changeRow({ kysely: tx }, `intern ${internId}`, change);
    const icon = { sha256, media_type: mediaType, bytes };
    await tx
      .insertInto('intern_icons')
      .values({ intern_id: internId, ...icon })
      .onConflict((conflict) => conflict.column('intern_id').doUpdateSet(icon))
      .execute();
  });
  return { sha256, mediaType };
}
