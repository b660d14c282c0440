import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request as openRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { UnavailableError } from '@ori/proof';
import { serveInTest } from '@ori/test-env/serve-in-test';
import { expect, test, vi } from 'vitest';
import { createLocalKeySet } from '../keys/local.ts';
import { createTestReplayStore, createTestSigner } from '../testing/testing.ts';
import { createVerifier } from '../verifier.ts';
import { type ProvenRequest, requireProof } from './express.ts';
import { requireProof as requireFetchProof } from './fetch.ts';

const PATH = '/api/invoke';
const BODY = '{"prompt":"a word that nobody guesses"}';
const signer = createTestSigner({ internId: 'int_1' });

const sha256 = (value: string) => createHash('sha256').update(value).digest('hex');

function createTestVerifier() {
  const keys = createLocalKeySet(signer.jwks);
  return createVerifier({ internId: 'int_1', keys, replay: createTestReplayStore() });
}

interface Sent {
  readonly method?: string;
  readonly target?: string;
  readonly headers?: readonly [string, string][];
  readonly body?: string;
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: Record<string, unknown>;
  readonly body: string;
}

type Daemon = (sent: Sent) => Promise<Answer>;

const proofOf = (path = PATH): [string, string][] => [
  ['content-type', 'application/json'],
  ...Object.entries(signer.sign({ path, body: BODY })),
];

async function start(diagnose?: boolean): Promise<Daemon> {
  const guard = requireProof(createTestVerifier(), { bodyBytesMax: 1000, diagnose });
  const { port } = await serveInTest(
    createServer((req: ProvenRequest, res) => guard(req, res, () => res.end('accepted'))),
  );
  return async ({ method = 'POST', target = PATH, headers = proofOf(), body = BODY }) => {
    const request = openRequest({
      port,
      method,
      path: target,
      headers: ['Host', 'daemon', ...headers.flat()],
    });
    request.end(body);
    const [response] = await once(request, 'response');
    // A diagnosis makes it longer.
    const { date, 'content-length': length, ...rest } = response.headers;
    return { status: response.statusCode, headers: rest, body: await text(response) };
  };
}

const changed = (name: string, value: string): [string, string][] =>
  proofOf().map(([key, sent]) => [key, key === name ? value : sent]);
const without = (name: string): [string, string][] => proofOf().filter(([key]) => key !== name);

/** Requests that no daemon accepts, each with its status. */
const REFUSED: [string, () => Sent, number][] = [
  ['another path', () => ({ target: '/api/other' }), 401],
  ['a query', () => ({ target: `${PATH}?a=1` }), 401],
  ['another method', () => ({ method: 'PUT' }), 401],
  ['another body', () => ({ body: `${BODY} ` }), 401],
  ['no body', () => ({ body: '' }), 401],
  ['another user', () => ({ headers: changed('x-ori-invoke-user', 'mallory') }), 401],
  ['another nonce', () => ({ headers: changed('x-ori-invoke-nonce', 'AAECAwQFBgcICQoLDA0ODw') }), 401],
  ['an old timestamp', () => ({ headers: changed('x-ori-invoke-timestamp', '1') }), 401],
  ['no user', () => ({ headers: without('x-ori-invoke-user') }), 401],
  ['no version 2', () => ({ headers: without('x-ori-invoke-nonce') }), 401],
  ['a user twice', () => ({ headers: [...proofOf(), ['x-ori-invoke-user', 'user_test']] }), 401],
  ['another media type', () => ({ headers: changed('content-type', 'text/plain') }), 401],
  ['a content coding', () => ({ headers: [...proofOf(), ['content-encoding', 'gzip']] }), 401],
  ['no proof at all', () => ({ headers: [] }), 401],
  ['too large a body', () => ({ body: 'x'.repeat(1001) }), 413],
];

test.each(REFUSED)('refuses %s alike with and without a diagnosis', async (_what, make, status) => {
  const [plain, off, on] = await Promise.all([start(), start(false), start(true)]);
  const sent = make();
  const answer = await plain(sent);
  expect(answer.status).toBe(status);
  expect(await off(sent)).toEqual(answer);
  const told = await on(sent);
  const { diagnosis, ...error } = JSON.parse(told.body).error;
  expect({ ...told, body: JSON.stringify({ error }) }).toEqual(answer);
  expect(diagnosis === undefined).toBe(status !== 401);
});

test('accepts a good call once, without a diagnosis', async () => {
  const daemon = await start(true);
  const headers = proofOf();
  expect(await daemon({ headers })).toMatchObject({ status: 200, body: 'accepted' });
  const replay = await daemon({ headers });
  expect(JSON.parse(replay.body).error).toMatchObject({
    code: 'nonce_replayed',
    diagnosis: { path: sha256(PATH), query: false, body: sha256(BODY), bodyBytes: BODY.length },
  });
});

test('reports what arrived as digests only', async () => {
  const daemon = await start(true);
  const headers = [...changed('x-ori-invoke-user', 'canary_user'), ['cookie', 'canary'] as [string, string]];
  const answer = await daemon({ target: '/canary?canary=1', headers });
  const { diagnosis } = JSON.parse(answer.body).error;
  expect(diagnosis).toEqual({
    method: sha256('POST'),
    path: sha256('/canary'),
    query: true,
    body: null,
    bodyBytes: null,
    headers: Object.fromEntries(
      headers.filter(([name]) => name !== 'cookie').map(([name, value]) => [name, [sha256(value)]]),
    ),
  });
  expect(answer.body).not.toContain('canary');
});

test('reports the body if it was read completely', async () => {
  const daemon = await start(true);
  const { diagnosis } = JSON.parse((await daemon({ body: 'other' })).body).error;
  expect(diagnosis).toMatchObject({ body: sha256('other'), bodyBytes: 5 });
});

test.each([1, 'yes', null])('refuses the option value %o', async (option) => {
  await expect(start(option as never)).rejects.toThrow(TypeError);
});
test('is bounded, whatever the request contains', async () => {
  const daemon = await start(true);
  const many = Array.from({ length: 150 }, (_, i): [string, string] => ['x-ori-invoke-user', `user${i}`]);
  const names = proofOf().flatMap((header) => Array.from({ length: 5 }, () => header));
  const answer = await daemon({
    target: `/${'x'.repeat(4000)}?${'y'.repeat(4000)}`,
    headers: [...many, ...names],
  });
  const { diagnosis } = JSON.parse(answer.body).error;
  expect(diagnosis.headers['x-ori-invoke-user']).toEqual([0, 1, 2, 3].map((i) => sha256(`user${i}`)));
  expect(answer.body.length).toBeLessThan(4096);
});

test('is omitted for a failure of the daemon itself', async () => {
  const verifier = createTestVerifier();
  const finish = vi.fn(async () => {
    throw new UnavailableError('replay_store_unavailable', 'down');
  });
  const broken = { ...verifier, begin: () => ({ update: () => {}, finish }) };
  const guarded = requireFetchProof(broken, { bodyBytesMax: 1000, diagnose: true }, () => new Response());
  const response = await guarded(
    new Request('https://daemon.example/', { method: 'POST', body: BODY, headers: proofOf() }),
  );
  expect(response.status).toBe(503);
  expect(JSON.parse(await response.text()).error).not.toHaveProperty('diagnosis');
});
