import { ConfigError } from '@ori/runtime/config';
import { readSecretFile, type SecretFileError } from '@ori/runtime/secret-file';
import type { TransitConfig } from './kms-address.ts';

/** A file of private keys, and the KMS that wrapped them, if any. */
export interface WrappedFile {
  readonly path: string;
  /** The setting or option that names the file, for problems. */
  readonly variable: string;
  readonly kmsUrl?: TransitConfig['kmsUrl'] | undefined;
  readonly kmsTokenFile?: TransitConfig['kmsTokenFile'];
}

/** The text of the file. @throws ConfigError, which quotes nothing of it */
export function readSecret({ path, variable }: WrappedFile): string {
  try {
    return readSecretFile(path);
  } catch (error) {
    const { message } = error as SecretFileError;
    throw new ConfigError([`${variable}: ${message}`]);
  }
}
