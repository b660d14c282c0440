import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { explainSystemError } from '@ori/faces/system-error';
import { CliError } from '../core/errors.ts';

/** Also trusts the certificate authorities in a PEM file, in this process. Throws CliError `usage`. */
export function trustAuthorities(file: string | undefined): void {
  if (file === undefined) return;
  try {
    const certificates = readFileSync(file, 'utf8');
    if (!certificates.includes('-----BEGIN CERTIFICATE-----'))
      throw new Error('it has no certificate in PEM');
    setDefaultCACertificates([...getCACertificates('default'), certificates]);
  } catch (error) {
    throw new CliError('usage', { detail: `--cacert: cannot use ${file}: ${explainSystemError(error)}.` });
  }
}
