import { unwatchFile, watchFile } from 'node:fs';
import { ConfigError } from '@ori/runtime/config';
import { readSecretFile, SecretFileError } from '@ori/runtime/secret-file';
import { type KekRing, parseKekRing, type RingRules } from './kek-ring.ts';
import { SealingError } from './sealing-error.ts';

const LOOK_EVERY_MS = 1000;

/**
 * Reads the ring of key-encryption keys from a secret file.
 *
 * @param variable the setting that names the file, for the complaint
 * @throws ConfigError, which quotes nothing of the file
 */
export function readKekRing(path: string, variable: string, rules: RingRules): KekRing {
  try {
    return parseKekRing(readSecretFile(path), rules);
  } catch (error) {
    if (error instanceof SecretFileError) throw new ConfigError([`${variable}: ${error.message}`]);
    if (!(error instanceof SealingError)) throw error;
    throw new ConfigError(error.complaints.map((complaint) => `${variable}: ${complaint}`));
  }
}

export interface RingWatch {
  /** The ring that was read before, and takes over what the file holds later. */
  readonly ring: KekRing;
  readonly path: string;
  readonly read: () => KekRing;
  onChange(kids: readonly string[]): void;
  /** The file cannot be used; the ring stays as it is. */
  onFailure(error: unknown): void;
}

/**
 * Follows the file of a ring, also where it is a link that is replaced (a mounted Kubernetes secret): a change is in
 * use a second later, without a restart.
 */
export function watchKekRing({ ring, path, read, onChange, onFailure }: RingWatch): { close(): void } {
  const look = () => {
    try {
      ring.replaceBy(read());
    } catch (error) {
      return onFailure(error);
    }
    onChange(ring.kids);
  };
  watchFile(path, { interval: LOOK_EVERY_MS, persistent: false }, look);
  return { close: () => unwatchFile(path, look) };
}
