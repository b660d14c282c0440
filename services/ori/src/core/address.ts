import { CliError } from './errors.ts';
import type { AddressFault, AddressKind } from './failures/facts.ts';

/** The default base address, which is the standalone's. */
export const BASE_URL_DEFAULT = 'http://127.0.0.1:8080/v1';

/** Whether the host is spelled as loopback: 127.0.0.0/8, [::1], localhost. Names are not resolved. */
export function isLoopback(url: URL): boolean {
  return (
    url.hostname === 'localhost' || url.hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(url.hostname)
  );
}

/**
 * Accepts https anywhere and plain http only on loopback, without credentials. Throws CliError `address_not_usable`, or
 * `issuer_not_usable` for an issuer and its endpoints, which the user did not choose.
 */
export function requireSafeAddress(address: string, what: AddressKind): URL {
  if (!URL.canParse(address)) throw notUsable(what, address, 'not_a_url');
  const url = new URL(address);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw notUsable(what, address, 'not_http');
  // The address is not repeated, because it contains a password.
  if (url.username !== '' || url.password !== '') throw notUsable(what, url.host, 'credentials');
  if (url.protocol === 'http:' && !isLoopback(url)) throw notUsable(what, address, 'plain_http');
  return url;
}

function notUsable(what: AddressKind, address: string, why: AddressFault): CliError {
  const isChosen = what === 'base address' || what === 'daemon address';
  return new CliError(isChosen ? 'address_not_usable' : 'issuer_not_usable', { what, address, why });
}

/** The API's base address without a trailing slash, as it appears in the protected-resource metadata. */
export function parseBaseAddress(address: string): string {
  const url = requireSafeAddress(address, 'base address');
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(address)) {
    throw notUsable('base address', address, 'query_or_fragment');
  }
  return url.href.replace(/\/+$/, '');
}

/**
 * The URL of the protected-resource metadata of a base address (RFC 9728, section 3.1: its path comes last).
 */
export function metadataAddress(baseUrl: string): string {
  const url = new URL(baseUrl);
  const path = url.pathname === '/' ? '' : url.pathname;
  return `${url.origin}/.well-known/oauth-protected-resource${path}`;
}

/**
 * A daemon's origin. A path is refused, because the proof covers exactly the path argument.
 */
export function parseDaemonAddress(address: string): URL {
  const url = requireSafeAddress(address, 'daemon address');
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || /[?#]/.test(address)) {
    throw notUsable('daemon address', address, 'not_an_origin');
  }
  return url;
}
