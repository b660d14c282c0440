import { expect, it } from 'vitest';
import { metadataAddress, parseBaseAddress, parseDaemonAddress, requireSafeAddress } from './address.ts';
import { CliError } from './errors.ts';

function faultOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error instanceof CliError ? (error.facts as { why?: string }).why : error;
  }
  return undefined;
}

it('accepts https anywhere and plain http on loopback', () => {
  for (const address of [
    'https://api.example.com/v1',
    'http://127.0.0.1:8080/v1',
    'http://127.9.8.7/v1',
    'http://[::1]:8080/v1',
    'http://localhost:8080/v1',
  ]) {
    expect(parseBaseAddress(address)).toBe(address);
  }
});

it('refuses plain http anywhere else, even if the host looks like loopback', () => {
  for (const host of [
    'api.example.com',
    'localhost.example.com',
    '127.0.0.1.example.com',
    '128.0.0.1',
    '0.0.0.0',
    '[::2]',
    '[::ffff:8.8.8.8]',
    '192.168.0.1',
  ]) {
    expect(
      faultOf(() => requireSafeAddress(`http://${host}/v1`, 'issuer')),
      host,
    ).toBe('plain_http');
  }
});

it('refuses an invalid URL, and one with credentials without repeating them', () => {
  expect(faultOf(() => parseBaseAddress('api.example.com/v1'))).toBe('not_a_url');
  expect(faultOf(() => parseBaseAddress('file:///etc/passwd'))).toBe('not_http');
  expect(faultOf(() => parseBaseAddress('javascript:alert(1)'))).toBe('not_http');
  const address = 'https://ada:secret@api.example.com/v1';
  expect(faultOf(() => parseBaseAddress(address))).toBe('credentials');
  expect(() => parseBaseAddress(address)).toThrow(
    expect.objectContaining({
      facts: expect.not.objectContaining({ address: expect.stringContaining('secret') }),
    }),
  );
});

it('removes the trailing slash of a base address, and refuses a query or a fragment', () => {
  expect(parseBaseAddress('https://api.example.com/v1/')).toBe('https://api.example.com/v1');
  for (const rest of ['?', '?a=b', '#', '#top']) {
    expect(
      faultOf(() => parseBaseAddress(`https://api.example.com/v1${rest}`)),
      rest,
    ).toBe('query_or_fragment');
  }
});

it('puts the path of the base address behind the well-known name', () => {
  expect(metadataAddress('https://api.example.com/v1')).toBe(
    'https://api.example.com/.well-known/oauth-protected-resource/v1',
  );
  expect(metadataAddress('https://example.com:8443/api/v1')).toBe(
    'https://example.com:8443/.well-known/oauth-protected-resource/api/v1',
  );
});

it('accepts only an origin for a daemon', () => {
  expect(parseDaemonAddress('https://bot.example.com').origin).toBe('https://bot.example.com');
  for (const rest of ['/api', '/?', '/#', '/?a', '/api/']) {
    expect(
      faultOf(() => parseDaemonAddress(`https://bot.example.com${rest}`)),
      rest,
    ).toBe('not_an_origin');
  }
});
