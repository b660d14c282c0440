import { randomBytes } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { startRedis } from '../../env/redis.ts';
import { BODY_SHA256, freshId, type SignOptions, startSignerWorld } from '../signer-world.ts';
import { createDpopWorld, steadyClock } from './dpop-world.ts';

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());
const clock = steadyClock();
const redis = stack.use(await startRedis());
const world = stack.use(
  await startSignerWorld({
    redis,
    parts: { now: clock, clocks: {} },
    environment: { LOG_LEVEL: 'debug', TURNS_PER_USER: '1' },
  }),
);
const { issuer, tenants } = world;

const linesOf = () => world.signer.output.filter((line) => line.includes('"msg":"signing refused"'));

/** What the log says of a refusal. */
function refusalOf({ headers }: { headers: Record<string, unknown> }): unknown {
  const lines = linesOf().map((line) => JSON.parse(line) as { requestId: string });
  return lines.find(({ requestId }) => requestId === headers['x-request-id']);
}

test.each<[string, string, SignOptions]>([
  ['bearer_refused', 'no Authorization header', { bearer: null }],
  ['not_found', 'unknown intern', { internId: freshId('int') }],
  ['not_found', 'workspace outside the programme', { internId: tenants.outsideInternId }],
  ['access_revoked', 'member removed', { bearer: await issuer.token({ subject: 'mary' }) }],
])('a refusal is logged with what distinguishes it: %s, %s', async (reason, why, options) => {
  expect(refusalOf(await world.sign(options))).toMatchObject({ reason, why });
});

test('so is the refusal of a DPoP proof, and a failure without its message', async () => {
  const dpop = await createDpopWorld(world, clock);
  expect(refusalOf(await dpop.send({ proofs: [] }))).toMatchObject({
    reason: 'dpop_proof_refused',
    why: expect.any(String),
  });
  const signed = await world.sign();
  expect([signed.status, refusalOf(signed)]).toEqual([200, undefined]);
  expect(refusalOf(await world.sign())).toMatchObject({ reason: 'rate_limited' });
  await redis.stop();
  const failed = refusalOf(await world.sign());
  await redis.start();
  expect(failed).toMatchObject({ reason: 'internal_error' });
  expect(failed).not.toHaveProperty('why');
});

test('no line holds a credential, a claim, an address or anything of a body', async () => {
  const canary = () => randomBytes(18).toString('base64url');
  const [name, subject, scope, path, member] = [canary(), canary(), canary(), canary(), canary()];
  const bearer = await issuer.token({
    subject,
    claims: { name, client: name },
    scope: `vault:read ${scope}`,
  });
  const body = JSON.stringify({ bodySha256: BODY_SHA256, route: { method: 'POST', path: `/${path}` } });
  const before = linesOf().length;
  await world.sign({ bearer, body });
  await world.sign({ bearer: bearer.slice(0, -4) });
  await world.sign({ bearer, body: JSON.stringify({ [member]: member }) });
  await world.sign({ bearer, body, headers: { 'content-type': member } });
  await world.sign({ bearer: tenants.apiKey, body });
  await world.sign({ bearer, body, internId: `int_${member}` });
  await world.sign({ bearer, body, path: `/v1/interns/${member}%00/daemon/sign` });
  const lines = linesOf().slice(before);
  expect(lines.length).toBeGreaterThan(5);
  const secrets = [...bearer.split('.'), tenants.apiKey, BODY_SHA256, name, subject, scope, path, member];
  expect(secrets.filter((secret) => lines.join('\n').includes(secret))).toEqual([]);
});

test('at the default level there is no such line', async () => {
  await using quiet = await startSignerWorld();
  expect((await quiet.sign({ bearer: null })).status).toBe(401);
  expect(quiet.signer.output.join('')).not.toContain('signing refused');
});
