import { expect, it } from 'vitest';
import { refusalOfApi, refusalToSign, retryAfterSeconds } from './refusal.ts';

function answer(status: number, reason?: string, headers: Record<string, string> = {}) {
  const metadata = reason === undefined ? {} : { metadata: { reason, retryable: false } };
  return {
    status,
    headers,
    body: JSON.stringify({ error: { code: status, message: 'Said.', ...metadata } }),
  };
}

it.each([
  [answer(400, 'invalid_body'), 'refused'],
  [answer(403, 'personal_identity_required'), 'refused'],
  [answer(403, 'insufficient_scope'), 'scope_missing'],
  [answer(403, 'access_revoked'), 'access_revoked'],
  [
    {
      ...answer(401),
      headers: { 'www-authenticate': 'Bearer error="insufficient_user_authentication", max_age="0"' },
    },
    'sign_in_too_old',
  ],
  [answer(403, 'regional_host_refused'), 'regional_host'],
  [answer(404, 'not_found'), 'intern_not_found'],
  [answer(408, 'timeout'), 'api_failed'],
  [answer(413, 'payload_too_large'), 'refused'],
  [answer(415, 'unsupported_media_type'), 'refused'],
  [answer(429, 'rate_limited'), 'rate_limited'],
  [answer(500, 'internal_error'), 'api_failed'],
  [answer(500, 'configuration_error'), 'api_misconfigured'],
  [answer(502), 'api_failed'],
  [answer(302), 'refused'],
])('classifies a signing refusal by status and reason: %j', (refused, code) => {
  expect(refusalToSign(refused, 'int_7Qm2').code).toBe(code);
});

it('recognizes a missing scope by the challenge if the body does not name it', () => {
  const challenge = { 'www-authenticate': 'Bearer error="insufficient_scope"' };
  expect(refusalOfApi(answer(403, undefined, challenge))).toMatchObject({
    code: 'scope_missing',
    facts: { scope: 'interns' },
  });
});

it('passes on what the server said, and the request and the trace to name', () => {
  const failed = { ...answer(500, 'internal_error', { 'x-request-id': 'r-1' }), traceId: 't-1' };
  expect(refusalToSign(failed, 'i').facts).toEqual({
    status: 500,
    message: 'Said.',
    reason: 'internal_error',
    requestId: 'r-1',
    traceId: 't-1',
  });
  expect(refusalToSign({ status: 502, headers: {}, body: '<html>' }, 'i').facts).toMatchObject({
    status: 502,
  });
});

it('includes the scope that the refusal requires', () => {
  const challenge = 'Bearer error="insufficient_scope", scope="vault:write"';
  const refused = answer(403, 'insufficient_scope', { 'www-authenticate': challenge });
  expect(refusalToSign(refused, 'i').facts).toMatchObject({ scope: 'vault:write', status: 403 });
  expect(refusalToSign(answer(403, 'insufficient_scope'), 'i').facts).toMatchObject({ scope: 'vault:read' });
});

it('reads only whole seconds of Retry-After', () => {
  expect(retryAfterSeconds({ 'retry-after': '17' })).toBe(17);
  for (const value of ['', '-1', '1.5', '0x10', 'Fri, 20 Nov 2026 12:00:00 GMT', '9'.repeat(12)]) {
    expect(retryAfterSeconds({ 'retry-after': value }), value).toBeUndefined();
  }
});
