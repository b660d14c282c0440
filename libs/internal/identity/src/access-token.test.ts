import { describe, expect, test } from 'vitest';
import { checkIntrospection, checkTokenClaims, checkTokenHeader, TOKEN_ALGORITHMS } from './access-token.ts';

const THUMBPRINT = '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I';
const NOW = 1_789_000_000;
const expected = {
  issuer: 'https://issuer.test',
  audience: 'https://api.test/v1',
  clients: ['ori-cli', 'ori-desktop'],
  lifetimeMaxSeconds: 3600,
  requiresAuthTime: false,
};
const claims = {
  iss: expected.issuer,
  aud: expected.audience,
  sub: 'ada',
  exp: NOW + 300,
  iat: NOW,
  client_id: 'ori-cli',
  scope: 'vault:read interns',
};
const withClaim = (claim: string) => expect.objectContaining({ code: 'bearer_refused', claim });
const coded = (code: string) => expect.objectContaining({ name: 'IdentityError', code });
const [REFUSED, CERTIFICATE] = [coded('bearer_refused'), coded('certificate_bound')];
const introspected = { ...claims, active: true, token_type: 'Bearer' };

test('reads the facts that the signer needs from a valid token', () => {
  const facts = {
    issuer: claims.iss,
    subject: 'ada',
    scopes: ['vault:read', 'interns'],
    expiresAt: claims.exp,
  };
  expect(checkTokenClaims(claims, expected, NOW)).toEqual(facts);
  expect(checkTokenClaims({ ...claims, auth_time: 5 }, expected, NOW)).toEqual({
    ...facts,
    authenticatedAt: 5,
  });
  expect(checkIntrospection(introspected, expected, NOW)).toEqual(facts);
  expect(checkTokenClaims({ ...claims, auth_time: 0 }, expected, NOW).authenticatedAt).toBe(0);
  const { scope: _, iat: __, ...least } = claims;
  expect(checkTokenClaims(least, expected, NOW)).toEqual({ ...facts, scopes: [] });
});

test.each(['at+jwt', 'AT+JWT', 'application/at+jwt'])('accepts typ %s', (typ) => {
  for (const alg of TOKEN_ALGORITHMS) expect(() => checkTokenHeader({ alg, typ })).not.toThrow();
});

test('allows no symmetric algorithm and not none', () => {
  expect(TOKEN_ALGORITHMS.filter((alg) => /^(HS|none)/i.test(alg))).toEqual([]);
});

test('accepts an introspection without iss and token_type', () => {
  const { iss: _, token_type: __, ...rest } = introspected;
  expect(checkIntrospection(rest, expected, NOW).issuer).toBe(expected.issuer);
});

/** For each member: wrong types, arrays and other values; undefined is the member missing. */
const wrong: Record<string, unknown[]> = {
  iss: [undefined, 1, [expected.issuer], 'https://issuer.test/', 'https://ISSUER.test'],
  aud: [
    undefined,
    null,
    1,
    [],
    [1],
    [expected.audience, 1],
    [[expected.audience]],
    'https://api.test/v10',
    'https://api.test/v',
    { 0: expected.audience },
  ],
  sub: [undefined, null, 1, '', ['ada'], 'ada\0', '\ud800'],
  exp: [
    undefined,
    null,
    String(NOW + 300),
    [NOW + 300],
    NOW - 2,
    0,
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
  ],
  nbf: ['0', [0], NOW + 3, -1],
  iat: ['0', [0], {}, Number.POSITIVE_INFINITY, NOW + 61],
  auth_time: ['0', [0], NOW + 61, 4_102_444_800],
  scope: [1, ['vault:read'], {}],
  cnf: [
    '',
    [],
    { jkt: 'x' },
    { jkt: 1 },
    { jkt: [THUMBPRINT] },
    { kid: 'x' },
    { jwk: {} },
    { jkt: null },
    { jkt: null, 'kc-jkt-type': 'DPoP' },
    { jkt: `${THUMBPRINT}A` },
    { jkt: `A${THUMBPRINT}` },
  ],
  act: [{}, { sub: 'service' }, false],
  client_id: [undefined, null, '', 'another-client', 'ORI-CLI', ['ori-cli']],
  azp: ['', 'another-client', ['ori-cli']],
};
const cases = Object.entries(wrong).flatMap(([name, values]) =>
  values.map((value) => [name, value] as const),
);

test.each(cases)('refuses a token whose %s is %j', (name, value) => {
  expect(() => checkTokenClaims({ ...claims, [name]: value }, expected, NOW)).toThrow(REFUSED);
});

test.each(cases.filter(([name, value]) => !(name === 'iss' && value === undefined)))(
  'refuses an introspection whose %s is %j',
  (name, value) => {
    expect(() => checkIntrospection({ ...introspected, [name]: value }, expected, NOW)).toThrow(REFUSED);
  },
);

test('accepts a token with its client only in azp', () => {
  const { client_id, ...rest } = claims;
  expect(checkTokenClaims({ ...rest, azp: client_id }, expected, NOW).subject).toBe('ada');
});

test('refuses a token that is valid for longer than the longest lifetime', () => {
  const exp = NOW + expected.lifetimeMaxSeconds + 1;
  expect(checkTokenClaims({ ...claims, exp: exp - 1 }, expected, NOW).expiresAt).toBe(exp - 1);
  expect(() => checkTokenClaims({ ...claims, exp }, expected, NOW)).toThrow(REFUSED);
  const { iat: _, ...undated } = claims;
  expect(() => checkTokenClaims({ ...undated, exp }, expected, NOW)).toThrow(REFUSED);
});

test('refuses a token without auth_time if it is required', () => {
  const strict = { ...expected, requiresAuthTime: true };
  expect(checkTokenClaims({ ...claims, auth_time: NOW }, strict, NOW).authenticatedAt).toBe(NOW);
  expect(() => checkTokenClaims(claims, strict, NOW)).toThrow(REFUSED);
});

test.each([
  ['active', undefined],
  ['active', false],
  ['active', 'true'],
  ['active', 1],
  ['active', [true]],
  ['token_use', 'refresh_token'],
  ['token_use', 'refresh'],
  ['typ', 'Refresh'],
  ['typ', 'Offline'],
  ['typ', 'ID'],
  ['token_type', 'refresh_token'],
  ['token_type', 'DPoP'],
  ['token_type', 'mac'],
  ['token_type', ['Bearer']],
])('refuses an introspection whose %s is %j', (name, value) => {
  expect(() => checkIntrospection({ ...introspected, [name]: value }, expected, NOW)).toThrow(REFUSED);
});

test('refuses an introspection of an unknown type, of a bound token too', () => {
  const bound = { ...introspected, token_type: 'mac', cnf: { jkt: THUMBPRINT } };
  expect(() => checkIntrospection(bound, expected, NOW)).toThrow(withClaim('token_type'));
});

test.each([
  ['access', true],
  ['access_token', true],
  ['id', false],
])('a token of the general type whose token_use is %s is accepted: %s', (token_use, isAccepted) => {
  const check = () => checkTokenClaims({ ...claims, token_use }, expected, NOW, 'JWT');
  if (isAccepted) expect(check()).toMatchObject({ subject: 'ada' });
  else expect(check).toThrow(withClaim('token_use'));
});

test.each([
  ['aud', { aud: 'https://other.test' }],
  ['scope', { scope: undefined }],
  ['client', { client_id: undefined }],
])('a refusal names what the token was refused for: %s', (claim, changes) => {
  expect(() => checkTokenClaims({ ...claims, ...changes }, expected, NOW, 'JWT')).toThrow(withClaim(claim));
});

test.each([
  { alg: 'ES256' },
  { alg: 'ES256', typ: 'JWT' },
  { alg: 'ES256', typ: 'at+jwtx' },
  { alg: 'ES256', typ: 'at+application/jwt' },
  { alg: 'ES256', typ: ['at+jwt'] },
  { alg: 'ES256', typ: null },
  { typ: 'at+jwt' },
  { alg: 'none', typ: 'at+jwt' },
  { alg: 'HS256', typ: 'at+jwt' },
  { alg: ['ES256'], typ: 'at+jwt' },
  { alg: 'es256', typ: 'at+jwt' },
  { alg: 'ES256', typ: 'at+jwt', crit: [] },
])('refuses the header %j', (header) => {
  expect(() => checkTokenHeader(header)).toThrow(REFUSED);
});

test('a header without a type is not one whose type is "none"', () => {
  expect(checkTokenHeader({ alg: 'ES256' }, ['none'])).toBe('none');
  expect(() => checkTokenHeader({ alg: 'ES256', typ: 'none' }, ['none'])).toThrow(withClaim('typ'));
});

test('names the key that a token is bound to', () => {
  const bound = { ...claims, cnf: { jkt: THUMBPRINT } };
  expect(checkTokenClaims(bound, expected, NOW).keyThumbprint).toBe(THUMBPRINT);
  for (const token_type of ['DPoP', 'Bearer', undefined]) {
    const answer = { ...introspected, cnf: { jkt: THUMBPRINT }, token_type };
    expect(checkIntrospection(answer, expected, NOW).keyThumbprint).toBe(THUMBPRINT);
  }
});

test.each([
  { jkt: THUMBPRINT, 'kc-jkt-type': 'DPoP' },
  { jkt: THUMBPRINT, kid: 'x' },
])('members beside the thumbprint of a key are ignored: %j', (cnf) => {
  expect(checkTokenClaims({ ...claims, cnf }, expected, NOW).keyThumbprint).toBe(THUMBPRINT);
  expect(checkIntrospection({ ...introspected, cnf }, expected, NOW).keyThumbprint).toBe(THUMBPRINT);
});

test('a claim that is null is absent, and an empty binding is none', () => {
  const names = ['iss', 'nbf', 'iat', 'auth_time', 'cnf', 'act', 'azp', 'token_type'];
  const nulls = Object.fromEntries(names.map((name) => [name, null]));
  const facts = { subject: 'ada', scopes: ['vault:read', 'interns'] };
  const given = [nulls, { cnf: {} }].map((changes) => ({ ...introspected, ...changes }));
  for (const answer of given) {
    const found = [
      checkIntrospection(answer, expected, NOW),
      checkTokenClaims({ ...answer, iss: expected.issuer }, expected, NOW),
    ];
    for (const one of found) {
      expect(one).toMatchObject(facts);
      expect(Object.keys(one)).not.toContain('keyThumbprint');
    }
  }
  expect(() => checkTokenClaims({ ...claims, iss: null }, expected, NOW)).toThrow(REFUSED);
});

test.each([{ 'x5t#S256': THUMBPRINT }, { 'x5t#S256': THUMBPRINT, jkt: THUMBPRINT }])(
  'reports a token bound to a client certificate as such: %j',
  (cnf) => {
    expect(() => checkTokenClaims({ ...claims, cnf }, expected, NOW)).toThrow(CERTIFICATE);
    expect(() => checkIntrospection({ ...introspected, cnf }, expected, NOW)).toThrow(CERTIFICATE);
  },
);

describe('an introspection without aud', () => {
  const { aud: _, ...answer } = introspected;
  const lenient = { ...expected, introspectionWithoutAudience: true };

  test('is refused, unless the settings of the issuer allow it', () => {
    expect(() => checkIntrospection(answer, expected, NOW)).toThrow(REFUSED);
    for (const changes of [{}, { aud: null }, { aud: [] }, { token_type: undefined }])
      expect(checkIntrospection({ ...answer, ...changes }, lenient, NOW)).toMatchObject({ subject: 'ada' });
  });

  test.each<[string, object]>([
    ['another audience', { aud: 'https://other.test' }],
    ['the use of a refresh token', { token_use: 'refresh_token' }],
    ['no scope', { scope: undefined }],
    ['a nonce', { nonce: 'n' }],
    ['no client', { client_id: undefined }],
    ['another client', { client_id: 'other' }],
  ])('is refused with %s all the same', (_what, changes) => {
    expect(() => checkIntrospection({ ...answer, ...changes }, lenient, NOW)).toThrow(REFUSED);
  });
});

describe('with claims of other names', () => {
  const named = {
    ...expected,
    claims: { subject: 'oid', client: 'cid', scope: 'scp', authTime: 'signed_in' },
    scopes: { 'vault:read': ['api://ori/vault.read', 'read'], interns: ['api://ori/interns'] },
  };
  const theirs = { ...claims, oid: 'o1', cid: 'ori-cli', scp: 'api://ori/vault.read openid', signed_in: 7 };

  test('reads those, and no other scope than the mapped ones', () => {
    expect(checkTokenClaims(theirs, named, NOW)).toMatchObject({
      subject: 'o1',
      scopes: ['vault:read'],
      authenticatedAt: 7,
    });
    const listed = { ...theirs, scp: ['read', 'api://ori/interns', 'vault:read '] };
    expect(checkTokenClaims(listed, named, NOW).scopes).toEqual(['vault:read', 'interns']);
    expect(checkTokenClaims({ ...theirs, scp: ['vault:read', 'interns'] }, named, NOW).scopes).toEqual([]);
  });

  test('reads a claim within another, unless one has just that name', () => {
    const path = { subject: 'ext.uid', client: 'ext.app.id', scope: 'ext.scp', authTime: 'ext.auth_time' };
    const nesting = { ...expected, claims: path };
    const ext = { uid: 'u7', app: { id: 'ori-cli' }, scp: ['vault:read'], auth_time: 9 };
    expect(checkIntrospection({ ...introspected, ext }, nesting, NOW)).toMatchObject({
      subject: 'u7',
      scopes: ['vault:read'],
      authenticatedAt: 9,
    });
    const flat = { ...claims, ext, 'ext.uid': 'flat' };
    expect(checkTokenClaims(flat, nesting, NOW).subject).toBe('flat');
    const refusedFor = (changes: object) => () =>
      checkTokenClaims({ ...claims, ext: { ...ext, ...changes } }, nesting, NOW);
    expect(refusedFor({ uid: null })).toThrow(withClaim('ext.uid'));
    expect(refusedFor({ app: { id: 'other' } })).toThrow(withClaim('client'));
    expect(refusedFor({ app: 'ori-cli' })).toThrow(withClaim('ext.app.id'));
    expect(() => checkTokenClaims({ ...claims, ext: [ext] }, nesting, NOW)).toThrow(withClaim('ext.uid'));
  });

  test.each(['oid', 'cid', 'scp'])('requires the claim %s, and names it', (name) => {
    const lacking = { ...theirs, [name]: undefined };
    expect(() => checkTokenClaims(lacking, named, NOW, 'JWT')).toThrow(withClaim(name));
  });

  test('a name that every object has is no claim', () => {
    for (const subject of ['constructor', 'constructor.name', 'sub.length']) {
      const odd = { ...expected, claims: { subject } };
      expect(() => checkTokenClaims(claims, odd, NOW)).toThrow(REFUSED);
    }
  });
});

test('allows the clock of the issuer to differ by two seconds', () => {
  expect(checkTokenClaims({ ...claims, exp: NOW - 1 }, expected, NOW).expiresAt).toBe(NOW - 1);
  expect(checkTokenClaims({ ...claims, nbf: NOW + 2 }, expected, NOW).subject).toBe('ada');
});
