import { expect, it } from 'vitest';
import { isAlive, isFresh, isJwt, parseSession, renewSession, type Session } from './session.ts';

const NOW = 1_789_000_000;
const SESSION: Session = {
  version: 1,
  base_url: 'https://api.example.com/v1',
  resource: 'https://api.example.com/v1',
  issuer: 'https://issuer.example.com',
  client_id: 'ori-cli',
  subject: 'user_2abc',
  name: null,
  scope: 'openid vault:read',
  access_token: 'access-1',
  expires_at: NOW + 300,
  refresh_token: 'refresh-1',
  signed_in_at: NOW,
  renewed_at: NOW,
};

it('treats a token as fresh until 30 seconds before it expires', () => {
  const end = NOW + 300;
  expect(isFresh(SESSION, end - 31)).toBe(true);
  expect(isFresh(SESSION, end - 30)).toBe(false);
  expect(isAlive(SESSION, end - 1)).toBe(true);
  expect(isAlive(SESSION, end)).toBe(false);
});

it('uses a token of unknown expiry until it is refused', () => {
  const endless = { ...SESSION, expires_at: null };
  expect(isFresh(endless, NOW * 2)).toBe(true);
  expect(isAlive(endless, NOW * 2)).toBe(true);
});

it('keeps a rotated refresh token, or the old one if there is no new one', () => {
  const rotated = renewSession(
    SESSION,
    { bound: false, accessToken: 'a2', refreshToken: 'r2', expiresInSeconds: 60.9 },
    NOW,
  );
  expect(rotated).toMatchObject({ access_token: 'a2', refresh_token: 'r2', expires_at: NOW + 60 });
  const kept = renewSession(SESSION, { bound: false, accessToken: 'a2', scope: 'openid' }, NOW);
  expect(kept).toMatchObject({ refresh_token: 'refresh-1', scope: 'openid', expires_at: null });
});

it.each([1e12, 2 ** 63, 1e300])('stores no expiry that no date can show: in %d s', (expiresInSeconds) => {
  const endless = renewSession(SESSION, { bound: false, accessToken: 'a2', expiresInSeconds }, NOW);
  expect(endless.expires_at).toBeNull();
  expect(parseSession(JSON.stringify(endless))).toEqual(endless);
});

it('reads its own file format and no other', () => {
  expect(parseSession(JSON.stringify(SESSION))).toEqual(SESSION);
  expect(parseSession(JSON.stringify({ ...SESSION, name: 'Ada', expires_at: null }))).toBeDefined();
  expect(parseSession(JSON.stringify({ ...SESSION, client_id: null, ended: 'invalid_grant' }))).toBeDefined();
  for (const text of ['', '{', 'null', '[]', '"text"', '{}'])
    expect(parseSession(text), text).toBeUndefined();
  for (const change of [
    { version: 2 },
    { version: '1' },
    { access_token: null },
    { name: 7 },
    { signed_in_at: null },
    { signed_in_at: 2 ** 53 },
    { refresh_token: 1 },
    { expires_at: 1.5 },
    { extra: '' },
    { ended: true },
    { subject: undefined },
  ]) {
    const text = JSON.stringify({ ...SESSION, ...change });
    expect(parseSession(text), text).toBeUndefined();
  }
});

it('distinguishes a JWT from an opaque token by its form', () => {
  expect(isJwt('eyJh.eyJz.c2ln')).toBe(true);
  for (const opaque of ['xyz', 'a.b', 'a.b.c.d', 'a b.c.d', 'sk-ori-v1-00'])
    expect(isJwt(opaque), opaque).toBe(false);
});
