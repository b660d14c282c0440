import { expect, it } from 'vitest';
import { CliError } from './errors.ts';
import { chooseScope, grantsScope, holdsScope, requireGranted } from './scopes.ts';

const UNKNOWN = { resource: undefined, issuer: undefined };

it('requests everything the CLI can use if neither API nor issuer lists scopes', () => {
  expect(chooseScope(UNKNOWN)).toBe('openid offline_access vault:read interns');
});

it('requests only scopes that the API and the issuer offer', () => {
  expect(chooseScope({ resource: ['interns', 'admin'], issuer: ['openid', 'email'] })).toBe('openid interns');
  expect(chooseScope({ resource: [], issuer: ['offline_access'] })).toBe('openid offline_access');
});

it('requests the scopes that the user named, and those of a session', () => {
  expect(chooseScope(UNKNOWN, 'vault:read')).toBe('openid offline_access vault:read');
  expect(chooseScope({ resource: ['interns'], issuer: undefined }, ' custom,openid ')).toBe(
    'openid offline_access custom',
  );
});

it('refuses malformed scopes', () => {
  for (const scope of ['', ' ', 'a"b', 'a\\b', 'ä']) {
    expect(() => chooseScope(UNKNOWN, scope), scope).toThrow(CliError);
  }
});

it('matches whole scopes, not parts of others', () => {
  expect(holdsScope('openid vault:read', 'vault:read')).toBe(true);
  expect(holdsScope('openid vault:readwrite', 'vault:read')).toBe(false);
  expect(holdsScope('', 'vault:read')).toBe(false);
});

const OFFERED = { resource: ['vault:read', 'interns'], issuer: ['openid', 'offline_access', 'email'] };

it('refuses a scope that neither API nor issuer has, before the sign-in', () => {
  expect(() => chooseScope(OFFERED, 'bogus')).toThrow(CliError);
  expect(() => chooseScope(OFFERED, 'vault:read xvault:read')).toThrow(CliError);
  expect(chooseScope(OFFERED, 'interns email')).toBe('openid offline_access interns email');
  expect(chooseScope(OFFERED, 'api://ori/vault:read')).toBe('openid offline_access api://ori/vault:read');
});

it('refuses a grant that lacks a scope that the user named', () => {
  expect(() => requireGranted('bogus', 'openid offline_access')).toThrow(CliError);
  expect(() => requireGranted('vault:read interns', 'openid interns')).toThrow(CliError);
  requireGranted('api://ori/vault:read', 'openid vault:read');
  requireGranted(undefined, 'openid');
});

it('requests what the API says in the issuer’s words', () => {
  const toRequest = ['api://ori/vault.read'];
  expect(chooseScope({ ...OFFERED, toRequest })).toBe('openid offline_access api://ori/vault.read');
  expect(chooseScope({ ...OFFERED, toRequest }, 'api://ori/vault.read')).toContain('api://ori/vault.read');
});

it.each([
  ['openid vault:read', true],
  ['openid email interns', false],
  ['openid api://ori/vault.read', undefined],
  ['', undefined],
])('judges what %j grants only in words that it knows', (scope, granted) => {
  expect(grantsScope(scope, 'vault:read')).toBe(granted);
});
