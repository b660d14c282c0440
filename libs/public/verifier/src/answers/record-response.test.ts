import { afterEach, expect, test, vi } from 'vitest';
import type { CallEnd } from '../replay/replay-store.ts';
import { recordResponse } from './record-response.ts';
import { Recorder } from './recorder.ts';

afterEach(() => void vi.useRealTimers());

/** The response as the server gets it, and how the recorder settled. */
async function record(
  response: Response | Error,
  { bytesMax = 100, request = new Request('http://d') } = {},
) {
  const settle = vi.fn<(end: CallEnd) => void>();
  const recorder = new Recorder({ bytesMax, noStore: false }, settle);
  const answered = await recordResponse(recorder, request, () => {
    if (response instanceof Error) throw response;
    return response;
  }).catch((error: unknown) => error as Error);
  return { answered: answered as Response, end: () => settle.mock.lastCall?.[0] };
}

/** A body of these parts; without `last` it does not end. */
function streamOf(parts: (string | Error)[], cancel = vi.fn()) {
  const left = [...parts];
  const body = new ReadableStream({
    pull(controller) {
      const part = left.shift();
      if (part === undefined) return controller.close();
      if (part instanceof Error) throw part;
      if (part === '…') return new Promise<void>(() => undefined);
      controller.enqueue(new TextEncoder().encode(part));
    },
    cancel,
  });
  return { body, cancel };
}

const textOf = (end: CallEnd | undefined) =>
  typeof end === 'object' ? { ...end, body: new TextDecoder().decode(end.body) } : end;

test('records status, headers and body, and the reader gets them', async () => {
  const headers = { 'x-own': '1' };
  const { answered, end } = await record(
    new Response(streamOf(['do', 'ne']).body, { status: 201, statusText: 'Made', headers }),
  );
  expect(end()).toBeUndefined();
  expect([answered.status, answered.statusText, answered.headers.get('x-own')]).toEqual([201, 'Made', '1']);
  expect(await answered.text()).toBe('done');
  expect(textOf(end())).toEqual({ status: 201, headers, body: 'done' });
});

test('a response without a body is recorded and stays itself', async () => {
  const response = new Response(null, { status: 204 });
  const { answered, end } = await record(response);
  expect(answered).toBe(response);
  expect(textOf(end())).toEqual({ status: 204, headers: {}, body: '' });
});

test('an upgrade and an answer that is not kept stay themselves too', async () => {
  const upgrade = { status: 101, headers: new Headers(), body: null } as Response;
  const first = await record(upgrade);
  expect(first.answered).toBe(upgrade);
  expect(first.end()).toBe('lost');
  const response = new Response('mine', { headers: { 'cache-control': 'no-store' } });
  const second = await record(response);
  expect(second.answered).toBe(response);
  expect(second.end()).toBe('lost');
});

test('an error of the handler, or of its body, is passed on; the answer is lost', async () => {
  const error = new Error('mine');
  const thrown = await record(error);
  expect([thrown.answered, thrown.end()]).toEqual([error, 'lost']);
  const broken = await record(new Response(streamOf(['do', error]).body));
  await expect(broken.answered.text()).rejects.toBe(error);
  expect(broken.end()).toBe('lost');
});

test('the answer is lost if what the handler returns is no response, or was read', async () => {
  const read = new Response('mine');
  read.body?.getReader();
  for (const returned of [undefined as never, read]) {
    const { answered, end } = await record(returned);
    expect(answered).toBeInstanceOf(TypeError);
    expect(end()).toBe('lost');
  }
});

test.each([5, new Uint16Array(1), new ArrayBuffer(1)])(
  'the answer is lost if %o is a part of it',
  async (part) => {
    const { answered, end } = await record(new Response(ReadableStream.from([part] as never[])));
    await answered.body?.getReader().read();
    expect(end()).toBe('lost');
  },
);

test('records an answer that nobody reads', async () => {
  const { end } = await record(new Response('mine'));
  await vi.waitFor(() => expect(textOf(end())).toMatchObject({ body: 'mine' }));
});

test('reads the rest for the question to come when the client disconnects', async () => {
  const { body, cancel } = streamOf(['do', 'ne']);
  const { answered, end } = await record(new Response(body));
  await answered.body?.cancel();
  expect(textOf(end())).toMatchObject({ body: 'done' });
  expect(cancel).not.toHaveBeenCalled();
});

test('records text, which some servers take for bytes', async () => {
  const body = ReadableStream.from(['do', 'é'] as never[]);
  const { answered, end } = await record(new Response(body));
  expect(await answered.text()).toBe('doé');
  expect(textOf(end())).toMatchObject({ body: 'doé' });
});

/** A request whose handler listened to its signal, and what that tells when the client leaves. */
async function listen(response: Response, bytesMax?: number) {
  const client = new AbortController();
  const request = new Request('http://d', { signal: client.signal });
  const told = vi.fn();
  const returned = async () => {
    request.signal.addEventListener('abort', () => told(request.signal.reason));
    return response;
  };
  const recorder = new Recorder({ bytesMax: bytesMax ?? 100, noStore: false }, vi.fn());
  const answered = await recordResponse(recorder, request, returned);
  return { answered, request, told, leave: () => client.abort('left') };
}

test('the signal does not tell that the client left before there is nothing more to record', async () => {
  const { answered, request, told, leave } = await listen(new Response(streamOf(['do', 'ne']).body), 3);
  leave();
  expect([told.mock.calls, request.signal.aborted]).toEqual([[], false]);
  await answered.body?.cancel('left');
  expect([told.mock.calls, request.signal.aborted]).toEqual([[['left']], true]);
});

test('the signal tells it of an answer that is not kept', async () => {
  const { told, leave } = await listen(new Response('mine', { headers: { 'cache-control': 'no-store' } }));
  leave();
  expect(told.mock.calls).toEqual([['left']]);
});

test('stops reading when the answer is too large, and says why to the handler', async () => {
  const { body, cancel } = streamOf(['do', 'ne', 'and', 'more']);
  const { answered, end } = await record(new Response(body), { bytesMax: 3 });
  await answered.body?.cancel('left');
  expect(end()).toBe('too_large');
  expect(cancel).toHaveBeenCalledExactlyOnceWith('left');
});

test('waits ten minutes for a handler that goes on', async () => {
  vi.useFakeTimers();
  const { body, cancel } = streamOf(['do', '…']);
  const { answered, end } = await record(new Response(body));
  void answered.body?.cancel('left');
  await vi.advanceTimersByTimeAsync(599_999);
  expect([end(), cancel.mock.calls]).toEqual([undefined, []]);
  await vi.advanceTimersByTimeAsync(1);
  expect([end(), cancel.mock.calls]).toEqual(['lost', [['left']]]);
});

test('leaves no timer behind', async () => {
  vi.useFakeTimers();
  const { answered } = await record(new Response(streamOf(['do']).body));
  await answered.body?.cancel();
  const broken = await record(new Response(streamOf(['do', new Error('mine')]).body));
  await broken.answered.body?.cancel().catch(() => undefined);
  expect(vi.getTimerCount()).toBe(0);
});
