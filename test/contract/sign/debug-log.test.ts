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
    environment: { LOG_LEVEL: 'debug', REGIONAL_HOSTS: 'eu.api.ori.test', TURNS_PER_USER: '3' },
  }),
);
const { issuer, tenants } = world;

interface StageLine {
  readonly stage: string;
  readonly outcome: string;
  readonly ms?: number;
  readonly why?: string;
}

const linesOf = () => world.signer.output.filter((line) => line.includes('"msg":"signing stages"'));

/** What the log says of the stages of a request. */
function stagesOf(requestId: unknown): StageLine[] {
  const lines = linesOf().map((line) => JSON.parse(line) as { requestId: string; stages: StageLine[] });
  return lines.find((line) => line.requestId === requestId)?.stages ?? [];
}

const passed = (stages: readonly string[]) =>
  stages.map((stage) => expect.objectContaining({ stage, outcome: 'passed' }));
const AS_FAR_AS_THE_GATE = ['token', 'body', 'queue', 'intern'];

test('the line of a proof has every stage that waited, in order, and how long', async () => {
  const answer = await world.sign();
  const stages = stagesOf(answer.headers['x-request-id']);
  expect(stages).toEqual(passed([...AS_FAR_AS_THE_GATE, 'key', 'turns', 'audit']));
  for (const { ms } of stages) expect(ms).toEqual(expect.any(Number));
});

test('the proof of a key is a stage of a bound session', async () => {
  const dpop = await createDpopWorld(world, clock);
  const stages = async (proofs?: readonly string[]) =>
    stagesOf((await dpop.send(proofs ? { proofs } : {})).headers['x-request-id']);
  expect((await stages()).slice(0, 2)).toEqual(passed(['token', 'dpop']));
  expect(await stages([])).toEqual([
    ...passed(['token']),
    { stage: 'dpop', outcome: 'dpop_proof_refused', ms: expect.any(Number), why: expect.any(String) },
  ]);
});

test.each<[string, string, SignOptions, string[], string?]>([
  ['host', 'regional_host_refused', { headers: { host: 'eu.api.ori.test' } }, []],
  ['token', 'bearer_refused', { bearer: 'x'.repeat(30) }, []],
  ['token', 'bearer_refused', { bearer: null }, [], 'no Authorization header'],
  ['scope', 'personal_identity_required', { bearer: tenants.apiKey }, ['token']],
  ['scope', 'insufficient_scope', { bearer: await issuer.token({ scope: 'interns' }) }, ['token']],
  ['body', 'unsupported_media_type', { headers: { 'content-type': 'text/plain' } }, ['token']],
  ['body', 'invalid_body', { body: '{}' }, ['token']],
  ['intern', 'not_found', { internId: freshId('int') }, ['token', 'body', 'queue'], 'unknown intern'],
  [
    'gate',
    'not_found',
    { internId: tenants.outsideInternId },
    AS_FAR_AS_THE_GATE,
    'workspace outside the programme',
  ],
  [
    'gate',
    'access_revoked',
    { bearer: await issuer.token({ subject: 'mary' }) },
    AS_FAR_AS_THE_GATE,
    'member removed',
  ],
  ['key', 'configuration_error', { internId: tenants.keylessInternId }, AS_FAR_AS_THE_GATE],
])(
  'a refusal is the last stage of its line: %s, %s',
  async (stage, outcome, options, before, why = expect.any(String)) => {
    const answer = await world.sign(options);
    const stages = stagesOf(answer.headers['x-request-id']);
    expect(stages.slice(0, -1)).toEqual(passed(before));
    expect(stages.at(-1)).toMatchObject({ stage, outcome, why });
  },
);

test('a limit and a dependency that fails are named by the stage that met them', async () => {
  const asFarAsTurns = [...AS_FAR_AS_THE_GATE, 'key'];
  const answers = [];
  for (let times = 0; times < 4; times++) answers.push(await world.sign());
  const limited = stagesOf(answers.at(-1)?.headers['x-request-id']);
  expect(limited.slice(0, -1)).toEqual(passed(asFarAsTurns));
  expect(limited.at(-1)).toMatchObject({
    stage: 'turns',
    outcome: 'rate_limited',
    why: 'no turn left for the user',
  });
  await redis.stop();
  const failed = stagesOf((await world.sign()).headers['x-request-id']);
  await redis.start();
  expect(failed.slice(0, -1)).toEqual(passed(asFarAsTurns));
  expect(failed.at(-1)).toMatchObject({ stage: 'turns', outcome: 'internal_error' });
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
  await world.sign({ bearer, body });
  await world.sign({ bearer: bearer.slice(0, -4) });
  await world.sign({ bearer, body: JSON.stringify({ [member]: member }) });
  await world.sign({ bearer, body, headers: { 'content-type': member } });
  await world.sign({ bearer: tenants.apiKey, body });
  await world.sign({ bearer, body, internId: `int_${member}` });
  await world.sign({ bearer, body, path: `/v1/interns/${member}%00/daemon/sign` });
  const lines = linesOf().join('\n');
  expect(lines.match(/\n/g)?.length).toBeGreaterThan(20);
  const secrets = [...bearer.split('.'), tenants.apiKey, BODY_SHA256, name, subject, scope, path, member];
  expect(secrets.filter((secret) => lines.includes(secret))).toEqual([]);
});

test('at the default level there is no such line', async () => {
  await using quiet = await startSignerWorld();
  expect((await quiet.sign()).status).toBe(200);
  expect(quiet.signer.output.join('')).not.toContain('signing stages');
});
