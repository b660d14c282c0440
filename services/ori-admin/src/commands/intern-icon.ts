import { open } from 'node:fs/promises';
import { ICON_BYTES_MAX, iconTypeOf, setIcon } from '@ori/store/admin';
import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../failure.ts';

export function addIconCommand(intern: Command, context: () => Context): void {
  intern
    .command('icon')
    .description('set the icon of an intern: PNG, JPEG or WebP, recognized by content, not by file name')
    .argument('<intern>', 'id of the intern')
    .argument('<file>', `at most ${ICON_BYTES_MAX} bytes`)
    .examples('ori-admin intern icon int_7Qm2 charles.png')
    .action(async (internId: string, file: string) => {
      const bytes = await readAtMost(file, ICON_BYTES_MAX);
      const mediaType = iconTypeOf(bytes);
      if (mediaType === undefined) {
        throw new UsageError(
          `${JSON.stringify(file)} is neither PNG, JPEG nor WebP.`,
          'Convert it first. SVG is refused because it can contain scripts.',
        );
      }
      const admin = context();
      const { sha256 } = await admin.withDatabase((db) => setIcon(db, { internId, mediaType, bytes }));
      admin.report(
        { id: internId, icon_sha256: sha256, media_type: mediaType },
        { lines: [sha256], note: `Set the icon: ${mediaType}, ${bytes.length} bytes.` },
      );
    });
}

/** @throws UsageError if the file cannot be read, is empty or is larger than `bytesMax` */
async function readAtMost(file: string, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const next = `Name an image of at most ${bytesMax} bytes.`;
  try {
    await using handle = await open(file, 'r');
    const bytes = Buffer.alloc(bytesMax + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length);
      length += bytesRead;
      if (bytesRead === 0 || length === bytes.length) break;
    }
    if (length === 0) throw new UsageError(`${JSON.stringify(file)} is empty.`, next);
    if (length > bytesMax) throw new UsageError(`${JSON.stringify(file)} is too large.`, next);
    return new Uint8Array(bytes.subarray(0, length));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new UsageError(`Cannot read ${JSON.stringify(file)} (${code}).`, next);
  }
}
