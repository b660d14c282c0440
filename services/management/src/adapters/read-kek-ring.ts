import { ConfigError } from '@ori/service-kit/config';
import { readSecretFile, SecretFileError } from '@ori/service-kit/secret-file';
import { type KekRing, parseKekRing, SealingError } from '@ori/store/sealing';

/** Reads the ring of key-encryption keys. @throws ConfigError under the variable's name, which quotes nothing of the file */
export function readKekRing(path: string, variable = 'MANAGEMENT_KEK_FILE'): KekRing {
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
