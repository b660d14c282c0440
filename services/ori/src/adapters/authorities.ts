import { readFileSync } from 'node:fs';
// Not by name: an older Node, which has neither, is to be told that it is too old.
import tls from 'node:tls';
import { explainSystemError } from '@ori/faces/system-error';
import { CliError } from '../core/errors.ts';

/** Also trusts the certificate authorities in a PEM file, in this process. Throws CliError `usage`. */
export function trustAuthorities(file: string | undefined): void {
  if (file === undefined) return;
  try {
    const certificates = readFileSync(file, 'utf8');
    if (!certificates.includes('-----BEGIN CERTIFICATE-----'))
      throw new Error('it has no certificate in PEM');
    tls.setDefaultCACertificates([...tls.getCACertificates('default'), certificates]);
  } catch (error) {
    throw new CliError('usage', { detail: `--cacert: cannot use ${file}: ${explainSystemError(error)}.` });
  }
}
