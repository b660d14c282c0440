import { ConfigError } from '@ori/service-kit/config';
import { readSecretFile, SecretFileError } from '@ori/service-kit/secret-file';
import { type KekRing, parseKekRing, SealingError } from '@ori/store/sealing';

/** Reads the ring of key-encryption keys. @throws ConfigError, which quotes nothing of the file */
export function readKekRing(path: string): KekRing {
  let text: string;
  try {
    text = readSecretFile(path);
  } catch (error) {
    if (!(error instanceof SecretFileError)) throw error;
    throw new ConfigError([`SIGNER_KEK_FILE: ${error.message}`]);
  }
  try {
    return parseKekRing(text);
  } catch (error) {
    if (!(error instanceof SealingError)) throw error;
    throw new ConfigError(error.complaints.map((complaint) => `SIGNER_KEK_FILE: ${complaint}`));
  }
}
