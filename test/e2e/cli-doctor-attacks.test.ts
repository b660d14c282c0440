import type { IncomingMessage, RequestListener } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { ProofError } from '@ori/proof';
import { createLocalKeySet, createVerifier, type VerifierOptions } from '@ori/verifier';
import { requireProof as expressProof } from '@ori/verifier/express';
import { requireProof } from '@ori/verifier/node';
import { createTestReplayStore, createTestSigner } from '@ori/verifier/testing';
import express from 'express';
import { expect, it } from 'vitest';
import { runOri } from './cli-in-process.ts';
import { INTERN_ID, listen, openSignedInWorld, send } from './cli-world.ts';

const PATH = '/api/invoke';
const { world, home } = await openSignedInWorld();

function verifierWith(options: Partial<VerifierOptions> = {}) {
  const keys = createLocalKeySet(world.jwks);
  return createVerifier({ internId: INTERN_ID, keys, replay: createTestReplayStore(), ...options });
}

const right = (options: Partial<VerifierOptions> = {}): RequestListener =>
  requireProof(verifierWith(options), { bodyBytesMax: 1_048_576, diagnose: true }, (_req, res) =>
    send(res, { status: 200 }),
  );

/** A daemon that verifies something else than what arrived. */
function wrong(
  seen: (req: IncomingMessage, body: Buffer) => { target?: string; rawHeaders?: string[]; body?: Uint8Array },
  options: Partial<VerifierOptions> = {},
): RequestListener {
  const verifier = verifierWith(options);
  return async (req, res) => {
    const body = await buffer(req);
    const { method = '', url: target = '', rawHeaders } = req;
    try {
      await verifier.verify({ method, target, rawHeaders, body, ...seen(req, body) });
      send(res, { status: 200 });
    } catch (error) {
      const code = error instanceof ProofError ? error.code : 'internal_error';
      send(res, { status: error instanceof ProofError ? 401 : 500, body: { error: { code } } });
    }
  };
}

/** Each connection goes to the next of them. */
function inTurns(...daemons: RequestListener[]): RequestListener {
  let at = 0;
  return (req, res) => daemons[at++ % daemons.length]?.(req, res);
}

function afterBodyParser(): RequestListener {
  const verify = expressProof(verifierWith(), { bodyBytesMax: 1000 }, (_req, res) => res.json({}));
  return express().use(express.json()).post(PATH, verify);
}

async function doctor(daemon: RequestListener, ...options: string[]) {
  const server = await listen(daemon);
  const args = ['doctor', 'call', INTERN_ID, PATH, '--data', '{"prompt":"hello"}', '--daemon', server.url];
  try {
    return await runOri(home, [...args, ...options], { ORI_BASE_URL: world.baseUrl });
  } finally {
    await server.stop();
  }
}

/** The verdict, the attacks that were accepted, and the code of the failure. */
async function judged(daemon: RequestListener) {
  const { exit, stdout, stderr } = await doctor(daemon, '--json');
  const { verdict, attacks } = JSON.parse(stdout);
  const accepted = attacks.filter(({ outcome }: { outcome: string }) => outcome === 'accepted');
  const holes = accepted.map(({ attack }: { attack: string }) => attack);
  const failure = stderr === '' ? undefined : JSON.parse(stderr).error;
  return { exit, verdict, holes, code: failure?.code ?? null, said: `${failure?.message} ${failure?.next}` };
}

const forgetful = { spend: () => 'spent' as const };

it.each<[string, RequestListener, readonly string[]]>([
  [
    'checks nothing',
    (_req, res) => send(res, { status: 200 }),
    [
      'no_proof',
      'body_changed',
      'body_extended',
      'path_changed',
      'query_added',
      'user_changed',
      'time_changed',
      'version_1',
      'repeated',
    ],
  ],
  [
    'verifies a proof only where there is one',
    (
      (verify) => (req, res) =>
        'x-ori-invoke-signature' in req.headers ? verify(req, res) : send(res, { status: 200 })
    )(right()),
    ['no_proof'],
  ],
  ['remembers no proofs', right({ replay: forgetful }), ['repeated']],
  ['has two processes with a memory each', inTurns(right(), right()), ['repeated']],
  [
    'parses the body and verifies what it writes again',
    wrong((_req, body) => ({ body: Buffer.from(JSON.stringify(JSON.parse(String(body)))) })),
    ['body_extended'],
  ],
  [
    'verifies the body that it expects',
    wrong(() => ({ body: Buffer.from('{"prompt":"hello"}') })),
    ['body_changed', 'body_extended'],
  ],
  ['takes the query off', wrong(({ url = '' }) => ({ target: url.split('?')[0] ?? '' })), ['query_added']],
  ['accepts version 1', right({ acceptV1: true }), ['version_1']],
  [
    'verifies version 1 only',
    wrong(
      ({ rawHeaders }) => ({
        rawHeaders: rawHeaders.flatMap((name, i) =>
          i % 2 === 1 || /-v2$|-nonce$/i.test(name) ? [] : [name, rawHeaders[i + 1] ?? ''],
        ),
      }),
      { acceptV1: true, replay: forgetful },
    ),
    ['path_changed', 'version_1', 'repeated'],
  ],
])('finds the hole of a daemon that %s', async (_what, daemon, holes) => {
  expect(await judged(daemon)).toMatchObject({ exit: 1, verdict: 'unsafe', holes, code: 'daemon_unsafe' });
});

it('advises one thing for a daemon that checks nothing', async () => {
  const { said } = await judged((_req, res) => send(res, { status: 200 }));
  expect(said).toMatch(/Nothing verifies proofs on this path\..*requireProof/);
  expect(said).not.toContain('Redis');
});

it('reports a hole before anything else, with its cause', async () => {
  const { stdout, stderr } = await doctor(right({ replay: forgetful }));
  expect(stdout.split('\n')[1]).toMatch(/^ {2}ACCEPTED {2}a call that was made before: 200$/);
  expect(stderr).toMatch(/not safe.*made before[\s\S]*Redis or PostgreSQL/);
});

it.each<[string, RequestListener, string, string, string]>([
  [
    'serves another intern',
    right({ internId: 'int_other' }),
    'unchanged',
    'call_unchanged',
    'another intern',
  ],
  [
    'has the keys of another signer',
    right({ keys: createLocalKeySet(createTestSigner({ internId: INTERN_ID }).jwks) }),
    'unchanged',
    'call_unchanged',
    'keys from another signer',
  ],
  [
    'has a clock that is ahead',
    right({ now: () => Date.now() + 90_000 }),
    'unchanged',
    'call_unchanged',
    'check the clocks',
  ],
  [
    'has a clock that is behind',
    right({ now: () => Date.now() - 90_000 }),
    'unchanged',
    'call_unchanged',
    'clock is behind',
  ],
  [
    'takes a prefix off the path',
    (req, res) => right()(Object.assign(req, { url: '/invoke' }), res),
    'changed',
    'call_changed',
    '(path)',
  ],
  ['mounts the verifier after a body parser', afterBodyParser(), 'refused', 'daemon_failed', 'body parser'],
])(
  'names what is wrong with a daemon that %s, without an attack',
  async (_what, daemon, verdict, code, said) => {
    expect(await judged(daemon)).toMatchObject({
      verdict,
      code,
      holes: [],
      said: expect.stringContaining(said),
    });
  },
);

it('does not vouch for a daemon that refuses in another way', async () => {
  const verify = right();
  const behind: RequestListener = (req, res) =>
    'x-ori-invoke-signature' in req.headers ? verify(req, res) : send(res, { status: 403 });
  expect(await judged(behind)).toMatchObject({
    exit: 1,
    verdict: 'unproven',
    holes: [],
    code: 'daemon_unproven',
  });
});

it('vouches for a daemon that refuses every attack', async () => {
  expect(await judged(right())).toMatchObject({ exit: 0, verdict: 'accepted', holes: [], code: null });
});

it('makes one call with --one, and does not vouch', async () => {
  let calls = 0;
  const { exit, stdout } = await doctor((_req, res) => {
    calls += 1;
    send(res, { status: 200 });
  }, '--one');
  expect({ exit, calls }).toEqual({ exit: 0, calls: 1 });
  expect(stdout).not.toContain('accepted');
});

it('does not attack with a body that would be sent again and again', async () => {
  const server = await listen(right());
  const args = ['doctor', 'call', INTERN_ID, PATH, '--data', 'x'.repeat(1_048_577), '--daemon', server.url];
  const { exit } = await runOri(home, args, { ORI_BASE_URL: world.baseUrl });
  await server.stop();
  expect(exit).toBe(2);
});
