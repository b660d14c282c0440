import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Database } from '../../database.ts';
import type { IconMediaType } from '../../schema.ts';
import { AdminError, requireInput } from './admin-error.ts';
import { idSchema } from './ids.ts';

export const ICON_BYTES_MAX = 1_048_576;

/** The first bytes of each file type (null: any byte). An icon whose bytes do not match its type is refused. */
const SIGNATURES: Readonly<Record<IconMediaType, readonly (number | null)[]>> = {
  'image/png': [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  'image/jpeg': [0xff, 0xd8, 0xff],
  'image/webp': [0x52, 0x49, 0x46, 0x46, null, null, null, null, 0x57, 0x45, 0x42, 0x50],
};

const ICON_TYPES = ['image/png', 'image/jpeg', 'image/webp'] as const satisfies readonly IconMediaType[];

function looksLike(mediaType: IconMediaType, bytes: Uint8Array): boolean {
  return SIGNATURES[mediaType].every((byte, index) => byte === null || byte === bytes[index]);
}

/** The image type of the bytes; undefined if it is not allowed for an icon. */
export function iconTypeOf(bytes: Uint8Array): IconMediaType | undefined {
  return ICON_TYPES.find((mediaType) => looksLike(mediaType, bytes));
}

const newIcon = z
  .strictObject({
    internId: idSchema,
    mediaType: z.enum(ICON_TYPES),
    bytes: z
      .instanceof(Uint8Array)
      .refine(
        (bytes) => bytes.length > 0 && bytes.length <= ICON_BYTES_MAX,
        `expected 1 to ${ICON_BYTES_MAX} bytes`,
      ),
  })
  .refine(({ mediaType, bytes }) => looksLike(mediaType, bytes), {
    path: ['bytes'],
    message: 'expected an image of the given media type',
  });

/** Replaces the intern's icon; `sha256` is the hash that names it from then on. */
export async function setIcon(db: Database, input: z.input<typeof newIcon>): Promise<{ sha256: string }> {
  const { internId, mediaType, bytes } = requireInput(newIcon, input);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const icon = { sha256, media_type: mediaType, bytes };
  await db.kysely.transaction().execute(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('interns')
      .set({ icon_sha256: sha256, updated_at: new Date() })
      .where('id', '=', internId)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new AdminError('not_found', `no intern ${internId}`);
    await tx
      .insertInto('intern_icons')
      .values({ intern_id: internId, ...icon })
      .onConflict((conflict) => conflict.column('intern_id').doUpdateSet(icon))
      .execute();
  });
  return { sha256 };
}
