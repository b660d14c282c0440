import { expect, it } from 'vitest';
import { CliError } from './errors.ts';
import { sessionOfToken } from './given-token.ts';

const BASE = 'https://api.example.com/v1';
const jwt = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;

it('reads subject, expiry and scope from a JWT, and cannot be renewed', () => {
  const token = jwt({
    sub: 'sa-1',
    iss: 'https://issuer.example.com',
    exp: 2_000_000_000,
    scope: 'vault:read',
  });
  expect(sessionOfToken(` ${token}\n`, BASE, 1_789_000_000)).toMatchObject({
    access_token: token,
    base_url: BASE,
    subject: 'sa-1',
    issuer: 'https://issuer.example.com',
    expires_at: 2_000_000_000,
    scope: 'vault:read',
    client_id: null,
    refresh_token: null,
  });
});

it.each(['opaque', jwt({ sub: 7, exp: 'soon' }), jwt({ exp: 2 ** 53 - 1 }), 'a.b.c'])(
  'accepts %s without the missing facts',
  (token) => {
    expect(sessionOfToken(token, BASE, 0)).toMatchObject({ subject: 'unknown', expires_at: null, scope: '' });
  },
);

it.each(['', ' ', 'a b', 'a\r\nx-evil: 1', 'ä'])('refuses %j without repeating it', (token) => {
  let error: unknown;
  try {
    sessionOfToken(token, BASE, 0);
  } catch (caught) {
    error = caught;
  }
  expect(error).toMatchObject({ code: 'token_unusable' });
  expect(JSON.stringify((error as CliError).facts)).not.toContain('evil');
  expect(error).toBeInstanceOf(CliError);
});
