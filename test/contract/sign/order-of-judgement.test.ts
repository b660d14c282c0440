import { expect, test } from 'vitest';
import { Written } from '../../../services/signer/src/stages/evidence.ts';
import { freshId, type SignOptions, startSignerWorld, useSignerWorld } from '../signer-world.ts';

const world = await useSignerWorld({
  environment: { REGIONAL_HOSTS: 'eu.api.ori.test', TURNS_PER_USER: '3' },
});
const { issuer, tenants } = world;

/** The checks in order: a request that fails only this one, and its refusal. */
const judgements: { name: string; fault: SignOptions; status: number; reason: string | undefined }[] = [
  {
    name: 'host',
    fault: { headers: { host: 'eu.api.ori.test' } },
    status: 403,
    reason: 'regional_host_refused',
  },
  { name: 'bearer', fault: { bearer: 'nobody' }, status: 401, reason: undefined },
  { name: 'kind', fault: { bearer: tenants.apiKey }, status: 403, reason: 'personal_identity_required' },
  {
    name: 'scope',
    fault: { bearer: await issuer.token({ scope: 'interns' }) },
    status: 403,
    reason: 'insufficient_scope',
  },
  {
    name: 'content encoding',
    fault: { headers: { 'content-encoding': 'gzip' } },
    status: 415,
    reason: 'unsupported_media_type',
  },
  {
    name: 'media type',
    fault: { headers: { 'content-type': 'text/plain' } },
    status: 415,
    reason: 'unsupported_media_type',
  },
  { name: 'size', fault: { body: ' '.repeat(1_048_577) }, status: 413, reason: 'payload_too_large' },
  { name: 'body', fault: { body: '{}' }, status: 400, reason: 'invalid_body' },
  { name: 'gate', fault: { internId: freshId('int') }, status: 404, reason: 'not_found' },
  {
    name: 'membership',
    fault: { bearer: await issuer.token({ subject: 'mary' }) },
    status: 403,
    reason: 'access_revoked',
  },
  {
    name: 'signing key',
    fault: { internId: tenants.keylessInternId },
    status: 500,
    reason: 'configuration_error',
  },
];

/** A request with both faults; undefined if they exclude each other. */
function both(a: SignOptions, b: SignOptions): SignOptions | undefined {
  const clashes = (['bearer', 'body', 'internId'] as const).some((key) => key in a && key in b);
  return clashes ? undefined : { ...b, ...a, headers: { ...b.headers, ...a.headers } };
}

const pairs = judgements.flatMap((earlier, index) =>
  judgements.slice(index + 1).flatMap((later) => {
    const options = both(earlier.fault, later.fault);
    return options === undefined ? [] : [{ first: earlier.name, second: later.name, earlier, options }];
  }),
);

test.each(judgements)('$name alone is refused, before the limiter', async ({ fault, status, reason }) => {
  const answer = await world.sign(fault);
  expect([answer.status, answer.reason()]).toEqual([status, reason]);
  expect(await world.turnsUsed()).toEqual({ user: 0, organization: 0 });
});

test.each(pairs)(
  '$first is checked before $second, and neither costs a turn',
  async ({ earlier, options }) => {
    const answer = await world.sign(options);
    expect([answer.status, answer.reason()]).toEqual([earlier.status, earlier.reason]);
    expect(await world.turnsUsed()).toEqual({ user: 0, organization: 0 });
  },
);

test('every possible pair was tried', () => {
  expect(pairs.length).toBeGreaterThanOrEqual(40);
});

test('the limiter comes after all of them, the nonce after the limiter, the record after the nonce', async () => {
  const asked: string[] = [];
  const answers = { nonce: true, audit: true };
  await using other = await startSignerWorld({
    environment: { TURNS_PER_USER: '1' },
    parts: {
      nonces: {
        draw: () => 'AAECAwQFBgcICQoLDA0ODw',
        reserve: async () => {
          asked.push('nonce');
          if (!answers.nonce) throw new Error('no answer');
          return true;
        },
      },
      audit: {
        append: async (line) => {
          asked.push('audit');
          if (!answers.audit) throw new Error('no answer');
          return new Written(line);
        },
        reopen: async () => {},
        check: async () => {},
        close: async () => {},
      },
    },
  });
  answers.nonce = false;
  expect((await other.sign()).status).toBe(500);
  expect(asked.splice(0)).toEqual(['nonce']);
  answers.nonce = true;
  answers.audit = false;
  const answer = await other.sign();
  expect(answer.status).toBe(500);
  expect(answer.text).not.toContain('signature');
  expect(asked.splice(0)).toEqual(['nonce', 'audit']);
  // The turns of both were refunded, so the only one is still there.
  answers.audit = true;
  expect((await other.sign()).status).toBe(200);
  expect(asked.splice(0)).toEqual(['nonce', 'audit']);
  expect((await other.sign()).status).toBe(429);
  expect(asked).toEqual([]);
});
