import { openVerifier } from '@ori/test-env/verifier/open-verifier';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ProofReport } from '../outcome.ts';
import type { TestProofOptions } from '../testing/testing.ts';
import { requireProof } from './fetch.ts';

const PATH = '/api/invoke';
const BODY = '{"prompt":"hello"}';

function world() {
  const outcomes: ProofReport['outcome'][] = [];
  const { signer, verifier } = openVerifier({ onOutcome: ({ outcome }) => void outcomes.push(outcome) });
  const handler = vi.fn(
    async (_request: Request, { proof, body }: { proof: { user: string }; body: Uint8Array }) =>
      Response.json({ user: proof.user, bytes: new TextDecoder().decode(body) }),
  );
  const guarded = requireProof(verifier, { bodyBytesMax: 1000 }, handler);
  const request = (options: Partial<TestProofOptions> = {}, target = options.path ?? PATH): Request => {
    const headers = new Headers({ ...signer.sign({ path: PATH, body: BODY, ...options }) });
    headers.set('content-type', 'application/json');
    return new Request(`https://daemon.example${target}`, {
      method: 'POST',
      headers,
      body: options.body ?? BODY,
    } as RequestInit);
  };
  const codeOf = async (response: Response): Promise<unknown> =>
    ((await response.json()) as { error: { code: string } }).error.code;
  return { verifier, guarded, handler, request, codeOf, outcomes };
}

test('refuses headers that were sent twice: they arrive joined', async () => {
  const { guarded, request, codeOf } = world();
  const twice = request();
  twice.headers.append('x-ori-invoke-user', 'user_test');
  expect(await codeOf(await guarded(twice))).toBe('proof_malformed');
});

test.each(['/a/../b', '/a/./b', '/a/%2e%2e/b', '/a\\b', '/a"b', '/a<b>', '/{a}'])(
  'refuses a legal path that Request rewrites: %s',
  async (path) => {
    const { guarded, request, codeOf } = world();
    expect(await codeOf(await guarded(request({ path })))).toBe('signature_invalid');
  },
);

test.each(['/', '//a', '/a%2Fb', '/a;b=c', "/a'b", '/~a/%E2%82%AC', '/a:b@c'])(
  'accepts a path that Request does not change: %s',
  async (path) => {
    const { guarded, request } = world();
    expect((await guarded(request({ path }))).status).toBe(200);
  },
);

test.each<[string, (request: Request) => unknown]>([
  ['read', (request) => request.text()],
  [
    'read in part',
    async ({ body }) => {
      const reader = body?.getReader();
      await reader?.read();
      reader?.releaseLock();
    },
  ],
  ['taken by another reader', ({ body }) => body?.getReader()],
])('answers 500 to a request whose body was already %s, without verifying it', async (_what, take) => {
  const { guarded, request, handler } = world();
  const taken = request();
  await take(taken);
  expect((await guarded(taken)).status).toBe(500);
  expect(handler).not.toHaveBeenCalled();
});

test('accepts a request that has no body', async () => {
  const { guarded, request } = world();
  const { url, headers } = request({ body: '' });
  expect((await guarded(new Request(url, { method: 'POST', headers }))).status).toBe(200);
});

test('refuses an announced body beyond the limit without reading of it', async () => {
  const { guarded, request } = world();
  const pull = vi.fn();
  const { url, headers } = request();
  headers.set('content-length', '1001');
  const body = new ReadableStream({ pull }, { highWaterMark: 0 });
  const response = await guarded(new Request(url, { method: 'POST', headers, body, duplex: 'half' }));
  expect(response.status).toBe(413);
  expect(pull).not.toHaveBeenCalled();
});

test.each([
  ['//a b:80/', 'an invalid host'],
  ['/api/x/../invoke', 'a path that URL shortens'],
  ['/api/invoke?', 'an empty query'],
])('refuses a server that passes %s', async (tail) => {
  const { guarded, request, handler, codeOf } = world();
  const path = tail.startsWith('/api') ? tail.replace('?', '') : PATH;
  const given = request({ path });
  const url = tail.startsWith('//') ? `http:${tail}${PATH.slice(1)}` : `http://daemon.example${tail}`;
  Object.defineProperty(given, 'url', { value: url });
  expect(await codeOf(await guarded(given))).toBe('request_not_coverable');
  expect(handler).not.toHaveBeenCalled();
});

test('passes on the server’s other arguments', async () => {
  const { verifier, request } = world();
  const guarded = requireProof(
    verifier,
    { bodyBytesMax: 1000 },
    (_request: Request, _proven, env: { KEY: string }, params: Promise<string>) =>
      Response.json([env.KEY, params instanceof Promise]),
  );
  const response = await guarded(request(), { KEY: 'value' }, Promise.resolve('params'));
  expect(await response.json()).toEqual(['value', true]);
});

test("does not catch the handler's own errors", async () => {
  const { guarded, request, handler } = world();
  handler.mockRejectedValueOnce(new Error('mine'));
  await expect(guarded(request())).rejects.toThrow('mine');
});

test('refuses to be made without a handler', () => {
  const { verifier } = world();
  expect(() => requireProof(verifier, { bodyBytesMax: 1 }, undefined as never)).toThrow(TypeError);
});

// SPEC.md E7.
test('holds the bytes of a body, and not the buffers in which they arrive', async () => {
  const { guarded, request } = world();
  const buffer = new Uint8Array(65_536);
  let sent = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (sent === BODY.length) return controller.close();
        buffer.set([BODY.charCodeAt(sent)]);
        sent += 1;
        controller.enqueue(buffer.subarray(0, 1));
      },
    },
    { highWaterMark: 0 },
  );
  const { url, headers } = request();
  const response = await guarded(new Request(url, { method: 'POST', headers, body, duplex: 'half' }));
  expect(await response.json()).toEqual({ user: 'user_test', bytes: BODY });
});

test('ends a request whose body does not arrive within 30 s, and tells the sender to stop', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { guarded, request, handler, codeOf, outcomes } = world();
  const cancelled = vi.fn();
  let feed: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      feed = controller;
    },
    cancel: cancelled,
  });
  const given = request();
  const slow = new Request(given.url, { method: 'POST', headers: given.headers, body, duplex: 'half' });
  const answer = guarded(slow);
  for (let seconds = 0; seconds < 29; seconds++) {
    feed?.enqueue(new TextEncoder().encode('x'));
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(cancelled).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1000);
  const response = await answer;
  expect(response.status).toBe(401);
  expect(await codeOf(response)).toBe('proof_expired');
  expect(outcomes).toEqual(['proof_expired']);
  expect(response.headers.get('connection')).toBe('close');
  expect(cancelled).toHaveBeenCalledOnce();
  expect(handler).not.toHaveBeenCalled();
});

// SPEC.md H6.
test.each<[string, { url?: string; extra?: string[] }, string | undefined]>([
  ['as it arrived', {}, undefined],
  ['whose path was shortened', { url: `/x/..${PATH}` }, 'signature_invalid'],
  ['whose fragment was removed', { url: `${PATH}#top` }, 'request_not_coverable'],
  ['whose empty query was removed', { url: `${PATH}?` }, 'request_not_coverable'],
  [
    'of which one Content-Type was dropped',
    { extra: ['content-type', 'text/plain'] },
    'request_not_coverable',
  ],
])('judges on Node a request %s as it was sent', async (_what, { url = PATH, extra = [] }, code) => {
  const { verifier, request, codeOf } = world();
  const guarded = requireProof(verifier, { bodyBytesMax: 1000 }, (_request: Request, _proven, _env: object) =>
    Response.json({ error: { code: undefined } }),
  );
  const given = request();
  const incoming = { method: 'POST', url, rawHeaders: [...[...given.headers].flat(), ...extra] };
  const response = await guarded(given, { incoming });
  expect(await codeOf(response)).toBe(code);
  expect(response.status).toBe(code === undefined ? 200 : 401);
});

test.each([
  null,
  'incoming',
  { incoming: null },
  { incoming: {} },
  { incoming: { method: 'POST', url: '/other' } },
  { incoming: { method: 'POST', rawHeaders: [] } },
  { incoming: { url: '/other', rawHeaders: [] } },
  { incoming: { rawHeaders: [] } },
])('judges the Request itself if the server passes %j', async (server) => {
  const { verifier, request } = world();
  const guarded = requireProof(
    verifier,
    { bodyBytesMax: 1000 },
    (_request: Request, _proven, _server: unknown) => new Response(),
  );
  expect((await guarded(request(), server)).status).toBe(200);
});

test('says that a body is incomplete which a server has cut without an error', async () => {
  const { guarded, request, codeOf, handler, outcomes } = world();
  const cut = request({ body: BODY.slice(0, -1) });
  cut.headers.set('content-length', String(BODY.length));
  expect(await codeOf(await guarded(cut))).toBe('body_incomplete');
  expect(outcomes).toEqual(['aborted']);
  expect(handler).not.toHaveBeenCalled();
});
