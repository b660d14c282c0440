import { expect, test } from 'vitest';
import { Written } from '../../../services/signer/src/core/stages/evidence.ts';
import { freshId, type SignOptions, startSignerWorld, useSignerWorld } from '../signer-world.ts';

const world = await useSignerWorld({
  environment: { REGIONAL_HOSTS: 'eu.api.ori.test', TURNS_PER_USER: '3' },
});
const { issuer, tenants } = world;

/** The checks in order: a request that fails only this one, and its refusal. */
const judgements = (
  [
    ['host', { headers: { host: 'eu.api.ori.test' } }, 403, 'regional_host_refused'],
    ['bearer', { bearer: 'nobody' }, 401, undefined],
    ['kind', { bearer: tenants.apiKey }, 403, 'personal_identity_required'],
    ['scope', { bearer: await issuer.token({ scope: 'interns' }) }, 403, 'insufficient_scope'],
    ['content encoding', { headers: { 'content-encoding': 'gzip' } }, 415, 'unsupported_media_type'],
    ['media type', { headers: { 'content-type': 'text/plain' } }, 415, 'unsupported_media_type'],
    ['size', { body: ' '.repeat(1_048_577) }, 413, 'payload_too_large'],
    ['body', { body: '{}' }, 400, 'invalid_body'],
    ['gate', { internId: freshId('int') }, 404, 'not_found'],
    ['membership', { bearer: await issuer.token({ subject: 'mary' }) }, 403, 'access_revoked'],
    ['signing key', { internId: tenants.keylessInternId }, 500, 'configuration_error'],
  ] satisfies [string, SignOptions, number, string | undefined][]
).map(([name, fault, status, reason]) => ({ name, fault: fault as SignOptions, status, reason }));

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
