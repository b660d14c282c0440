import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { readSecretFile, SecretFileError } from './secret-file.ts';
import { systemErrorCode } from './system-error-code.ts';

/** Paths of PEM files. */
export interface TlsFiles {
  /** Our certificate chain, and its private key. */
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** The authorities whose certificates are accepted. */
  readonly ca: string | undefined;
}

/** @throws when a file cannot be read; SecretFileError for a key that others may read */
export function readTlsFiles({ cert, key, ca }: TlsFiles) {
  return {
    ...(cert !== undefined && { cert: readFileSync(cert, 'utf8') }),
    ...(key !== undefined && { key: readSecretFile(key) }),
    ...(ca !== undefined && { ca: readFileSync(ca, 'utf8') }),
  };
}

/** What is wrong with the files in `<variables>_CERT_FILE` and so on: unreadable, unusable, or one without the other. */
export function problemsOfTlsFiles(variables: string, files: TlsFiles): string[] {
  if ((files.cert === undefined) !== (files.key === undefined)) {
    return [`${variables}_CERT_FILE and ${variables}_KEY_FILE: set both or neither`];
  }
  try {
    createSecureContext(readTlsFiles(files));
    return [];
  } catch (error) {
    const why = error instanceof SecretFileError ? error.message : `not usable (${systemErrorCode(error)})`;
    return [`${variables}_…_FILE: ${why}`];
  }
}
