import { ConfigError } from '@ori/runtime/config';
import type { KekOwner, KekRing } from './kek-ring.ts';
import { checkWrappedRing, openKekRing, parseKekRing } from './kek-ring-text.ts';
import { openKms } from './open-kms.ts';
import { SealingError } from './sealing-error.ts';
import { readSecret, type WrappedFile } from './wrapped-file.ts';

/** The file of a ring, and the KMS that wrapped its keys, if any. */
export interface RingFile extends WrappedFile {
  /** The service that the ring is for. */
  readonly owner: KekOwner;
}

/**
 * The text of the file, validated as far as possible without the KMS.
 *
 * @throws ConfigError, which quotes no part of the file
 */
export function readRingFile(file: RingFile): string {
  return explain(file, () => {
    const text = readSecret(file);
    if (file.kmsUrl === undefined) parseKekRing(text, file.owner);
    else checkWrappedRing(text, file.owner);
    return text;
  });
}

/** @throws ConfigError as {@link readRingFile}; KmsError */
export async function openRingFile(file: RingFile): Promise<KekRing> {
  const text = readRingFile(file);
  const { kmsUrl, kmsTokenFile, owner } = file;
  if (kmsUrl === undefined) return parseKekRing(text, owner);
  try {
    return await openKekRing(text, owner, await openKms({ kmsUrl, kmsTokenFile }));
  } catch (error) {
    return explain(file, () => {
      throw error;
    });
  }
}

function explain<Result>({ variable }: RingFile, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SealingError)) throw error;
    throw new ConfigError(error.problems.map((problem) => `${variable}: ${problem}`));
  }
}
