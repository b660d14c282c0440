import { ConfigError } from '@ori/runtime/config';
import { readSecretFile, SecretFileError } from '@ori/runtime/secret-file';
import { type KekRing, parseKekRing, SealingError } from '../sealing.ts';

/**
 * Reads the ring of key-encryption keys from a secret file.
 *
 * @param variable the setting that names the file, for the complaint
 * @throws ConfigError, which quotes nothing of the file
 */
export function readKekRing(path: string, variable: string): KekRing {
  let text: string;
  try {
    text = readSecretFile(path);
  } catch (error) {
    if (!(error instanceof SecretFileError)) throw error;
    throw new ConfigError([`${variable}: ${error.message}`]);
  }
  try {
    return parseKekRing(text);
  } catch (error) {
    if (!(error instanceof SealingError)) throw error;
    throw new ConfigError(error.complaints.map((complaint) => `${variable}: ${complaint}`));
  }
}
