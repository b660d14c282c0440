import { request as openRequest, type RequestListener } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { createLocalKeySet, createVerifier, type VerifierOptions } from '@ori/verifier';
import { requireProof as expressProof } from '@ori/verifier/express';
import { requireProof } from '@ori/verifier/node';
import { createTestReplayStore, createTestSigner } from '@ori/verifier/testing';
import express from 'express';
import { expect, it } from 'vitest';
import { runOri } from '../../e2e/cli-in-process.ts';
import { INTERN_ID, listen, openSignedInWorld, type Scripted, send } from '../../e2e/cli-world.ts';

const PATH = '/api//invoke/%41';
const BODY = '{ "prompt": "hello" }';

interface Message {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

const { world, home } = await openSignedInWorld();

/** Forwards a raw message to the daemon and returns the response. */
async function passOn({ method, path, headers, body }: Message): Promise<Scripted> {
  const { hostname, port } = new URL(world.daemonUrl);
  const { promise, resolve, reject } = Promise.withResolvers<Scripted>();
  const request = openRequest({ hostname, port, method, path, headers: headers.flat() }, async (response) => {
    const { 'www-authenticate': _challenge, ...rest } = response.headers;
    const text = (await buffer(response)).toString();
    resolve({
      status: response.statusCode ?? 0,
      headers: rest as Record<string, string>,
      body: text === '' ? {} : JSON.parse(text),
    });
  });
  request.on('error', reject).end(body);
  return promise;
}

/** Calls the daemon through a proxy that changes each message. */
async function doctor(between: (message: Message) => Promise<Scripted>, ...options: string[]) {
  const proxy = await listen(async (req, res) => {
    const raw = req.rawHeaders;
    const pairs = raw.flatMap((name, i): [string, string][] =>
      i % 2 === 0 ? [[name, raw[i + 1] ?? '']] : [],
    );
    const headers = pairs.filter(([name]) => name.toLowerCase() !== 'content-length');
    const body = await buffer(req);
    const { headers: answered = {}, ...answer } = await between({
      method: req.method ?? '',
      path: req.url ?? '',
      headers: [...headers, ['transfer-encoding', 'chunked']],
      body,
    });
    const kept = Object.entries(answered).filter(
      ([name]) => !/^(?:transfer-encoding|connection|date)$/.test(name),
    );
    send(res, { ...answer, headers: Object.fromEntries(kept) });
  });
  const args = ['doctor', 'call', INTERN_ID, PATH, '--data', BODY, '--daemon', proxy.url, ...options];
  try {
    return await runOri(home, args, { ORI_BASE_URL: world.baseUrl });
  } finally {
    await proxy.stop();
  }
}

/** The same, as JSON. */
async function verdictOf(between: (message: Message) => Promise<Scripted>, ...options: string[]) {
  const { exit, stdout, stderr } = await doctor(between, '--json', ...options);
  const { verdict, changes } = JSON.parse(stdout);
  const last = stderr.trimEnd().split('\n').at(-1) ?? '';
  return { exit, verdict, changes, code: last === '' ? null : JSON.parse(last).error.code };
}

// services/ori/src/doctor/arrival.test.ts has every change.
it('names what changed on the way', async () => {
  const reserialized = (message: Message) => passOn({ ...message, body: Buffer.from('{"prompt":"hello"}') });
  expect(await verdictOf(reserialized)).toEqual({
    exit: 7,
    verdict: 'changed',
    changes: [
      { field: 'body', change: 'changed', sent: '21 bytes', arrived: '18 bytes, reserialized as JSON' },
    ],
    code: 'call_changed',
  });
});

it('reports that a call was accepted, and prints nothing else of the response', async () => {
  const { exit, stdout, stderr } = await doctor(passOn);
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
  expect(stdout).toMatch(
    /^http:\/\/127\.0\.0\.1:\d+\/api\/\/invoke\/%41 answered 401 without a proof, and 200 with one: the call was accepted\.$/m,
  );
  expect(stdout).not.toContain('user');
  expect(await verdictOf(passOn)).toEqual({ exit: 0, verdict: 'accepted', changes: [], code: null });
});

it('tells a daemon that accepts a call without a proof, and sends it no other', async () => {
  const seen: string[] = [];
  const open = async ({ headers }: Message) => {
    seen.push(...headers.map(([name]) => name).filter((name) => name.startsWith('x-ori')));
    return { status: 200 };
  };
  expect(await verdictOf(open)).toEqual({ exit: 7, verdict: 'open', changes: [], code: 'daemon_open' });
  expect(seen).toEqual([]);
  expect((await doctor(open)).stderr).toMatch(
    /answered 200 to a call without a proof: it is open to anybody/,
  );
});

it('explains what changed, and what to do', async () => {
  const { exit, stdout, stderr } = await doctor((message) =>
    passOn({ ...message, path: '/invoke', method: 'GET' }),
  );
  expect(exit).toBe(7);
  expect(stdout.split('\n')).toEqual([
    'Changed on the way:',
    '  method: sent POST, arrived as GET',
    `  path: sent ${PATH}, arrived changed`,
    '',
  ]);
  expect(stderr).toContain('(request_not_coverable): the request changed on the way (method, path).');
  expect(stderr).toContain('Something in between changes requests.');
});

it('reports that a call sent twice arrived as it was signed, and why it was refused', async () => {
  const twice = async (message: Message) => {
    await passOn(message);
    return passOn(message);
  };
  expect(await verdictOf(twice)).toEqual({
    exit: 7,
    verdict: 'unchanged',
    changes: [],
    code: 'call_unchanged',
  });
  expect((await doctor(twice)).stderr).toMatch(/unchanged.*\(nonce_replayed\)[\s\S]*mirror/);
});

it('explains how to enable diagnosis if the daemon does not report', async () => {
  const silent = async (message: Message) => {
    const answer = await passOn({ ...message, path: '/x' });
    const { diagnosis: _, ...error } = (answer.body as { error: Record<string, unknown> }).error;
    return { ...answer, body: { error } };
  };
  expect(await verdictOf(silent)).toEqual({
    exit: 7,
    verdict: 'undiagnosed',
    changes: [],
    code: 'call_undiagnosed',
  });
  const { stderr } = await doctor(silent);
  expect(stderr).toContain('Does the daemon serve another intern');
  expect(stderr).toContain('diagnose: true');
});

it.each<[string, Scripted, object]>([
  [
    'the answer of a gateway',
    { status: 404, body: { error: { code: 404, message: 'No.' } } },
    { exit: 7, verdict: 'not_judged', code: 'call_not_judged' },
  ],
  [
    'a redirect',
    { status: 308, headers: { location: 'https://elsewhere.example/' } },
    { exit: 7, verdict: 'not_judged', code: 'call_not_judged' },
  ],
  [
    'a refusal that the framework wraps',
    { status: 401, body: { detail: { error: { code: 'signature_invalid' } } } },
    { exit: 7, verdict: 'not_judged', code: 'call_not_judged' },
  ],
  ['a failing gateway', { status: 502 }, { exit: 8, verdict: 'not_judged', code: 'daemon_failed' }],
  [
    'a body that is too large',
    { status: 413, body: { error: { code: 'body_too_large' } } },
    { exit: 7, verdict: 'refused', code: 'daemon_refused' },
  ],
  [
    'a store that is down',
    { status: 503, body: { error: { code: 'replay_store_full' } } },
    { exit: 8, verdict: 'refused', code: 'daemon_failed' },
  ],
  [
    'a diagnosis that is none',
    { status: 401, body: { error: { code: 'signature_invalid', diagnosis: { path: 'x' } } } },
    { exit: 7, verdict: 'undiagnosed', code: 'call_undiagnosed' },
  ],
])('distinguishes %s from a changed call', async (_what, answer, expected) => {
  expect(await verdictOf(async () => answer, '--timeout', '1')).toEqual({ changes: [], ...expected });
});

it('asks of a refusal without the code of a verifier whether it is wrapped', async () => {
  const wrapped = { status: 401, body: { detail: { error: { code: 'signature_invalid' } } } };
  const { stderr } = await doctor(async () => wrapped);
  expect(stderr).toContain('The answer is 401');
  expect(stderr.replace(/\s+/g, ' ')).toContain('does the framework wrap the daemon’s answers');
  expect(stderr).not.toContain('accepted');
});

const right = (options: Partial<VerifierOptions> = {}): RequestListener => {
  const keys = createLocalKeySet(world.jwks);
  const verifier = createVerifier({ internId: INTERN_ID, keys, replay: createTestReplayStore(), ...options });
  return requireProof(verifier, { bodyBytesMax: 1000, diagnose: true }, (_req, res) =>
    send(res, { status: 200 }),
  );
};

function afterBodyParser(): RequestListener {
  const keys = createLocalKeySet(world.jwks);
  const verifier = createVerifier({ internId: INTERN_ID, keys, replay: createTestReplayStore() });
  const verify = expressProof(verifier, { bodyBytesMax: 1000 }, (_req, res) => res.json({}));
  return express().use(express.json()).post('/api//invoke/%41', verify);
}

const anotherSigner = () => createLocalKeySet(createTestSigner({ internId: INTERN_ID }).jwks);

it.each<[string, RequestListener, string, RegExp]>([
  ['serves another intern', right({ internId: 'int_other' }), 'unchanged', /another intern/],
  [
    'has the keys of another signer',
    right({ keys: anotherSigner() }),
    'unchanged',
    /keys from another signer/,
  ],
  ['has a clock that is ahead', right({ now: () => Date.now() + 90_000 }), 'unchanged', /check the clocks/],
  ['has a clock that is behind', right({ now: () => Date.now() - 90_000 }), 'unchanged', /clock is behind/],
  ['mounts the verifier after a body parser', afterBodyParser(), 'refused', /body parser/],
])('names what is wrong with a daemon that %s', async (_what, daemon, verdict, said) => {
  await using server = await listen(daemon);
  const args = ['doctor', 'call', INTERN_ID, PATH, '--data', BODY, '--daemon', server.url, '--json'];
  const { stdout, stderr } = await runOri(home, args, { ORI_BASE_URL: world.baseUrl });
  expect(JSON.parse(stdout).verdict).toBe(verdict);
  expect(JSON.parse(stderr).error.next).toMatch(said);
});
