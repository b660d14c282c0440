import { readFile, stat } from 'node:fs/promises';
import { ICON_BYTES_MAX, setIcon } from '@ori/administration/icons';
import type { Command } from '../command.ts';
import { UsageError } from '../failure.ts';

export function addIconCommand(intern: Command): void {
  intern
    .command('icon')
    .description('set the icon of an intern: PNG, JPEG or WebP, recognized by content, not by file name')
    .argument('<intern>', 'id of the intern')
    .argument('<file>', `at most ${ICON_BYTES_MAX} bytes`)
    .examples('ori-admin intern icon int_7Qm2 charles.png')
    .does(async (admin, internId: string, file: string) => {
      const bytes = await readIcon(file);
      const { sha256, mediaType } = await admin.withDatabase((db) => setIcon(db, { internId, bytes }));
      admin.report(
        { id: internId, icon_sha256: sha256, media_type: mediaType },
        { lines: [sha256], note: `Set the icon: ${mediaType}, ${bytes.length} bytes.` },
      );
    });
}

/** @throws UsageError if the file is too large for an icon */
async function readIcon(file: string): Promise<Buffer> {
  const { size } = await stat(file);
  if (size <= ICON_BYTES_MAX) return await readFile(file);
  const next = `Name an image of at most ${ICON_BYTES_MAX} bytes.`;
  throw new UsageError(`${JSON.stringify(file)} is too large.`, next);
}
