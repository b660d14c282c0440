import { generateKeyPairSync, sign } from 'node:crypto';

/** PEM. */
export interface Tls {
  readonly key: string;
  readonly cert: string;
}

const DAY_MS = 86_400_000;

/**
 * A self-signed certificate for `localhost`, generated here to avoid depending on an installed program.
 *
 * @param name its common name. One client trusts two certificates only if their names differ
 */
export function makeCertificate({ name = 'localhost', daysLeft = 30 } = {}): Tls {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = sequence(hex('06082a8648ce3d040302'));
  const subject = sequence(der(0x31, sequence(hex('0603550403'), der(0x0c, Buffer.from(name)))));
  const subjectAltName = sequence(
    hex('0603551d11'),
    der(0x04, sequence(der(0x82, Buffer.from('localhost')))),
  );
  const isAuthority = sequence(hex('0603551d13'), hex('0101ff'), der(0x04, sequence(hex('0101ff'))));
  const toBeSigned = sequence(
    der(0xa0, hex('020102')), // version 3
    hex('020101'), // serial number 1
    ecdsaWithSha256,
    subject,
    sequence(utcTime(Date.now() - DAY_MS), utcTime(Date.now() + daysLeft * DAY_MS)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(subjectAltName, isAuthority)),
  );
  const signature = sign('sha256', toBeSigned, privateKey);
  const certificate = sequence(toBeSigned, ecdsaWithSha256, der(0x03, Buffer.concat([hex('00'), signature])));
  const base64 = certificate.toString('base64').replace(/.{64}/g, '$&\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
  };
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function utcTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\D/g, '');
  return der(0x17, Buffer.from(`${digits.slice(2, 14)}Z`));
}

function hex(text: string): Buffer {
  return Buffer.from(text, 'hex');
}
