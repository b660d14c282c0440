import { expect, test } from 'vitest';
import { holdSignal, passSignal, tellSignal } from './signal.ts';

/** A request whose signal is not its own property, as on all platforms, and what aborts it. */
function requestOf(signal: AbortSignal | undefined): { readonly signal?: AbortSignal } {
  return Object.create({ signal });
}

test('a held signal does not tell that the client left, and is told by hand', () => {
  const client = new AbortController();
  const request = requestOf(client.signal);
  holdSignal(request);
  const { signal } = request;
  expect(request.signal).toBe(signal);
  client.abort('gone');
  expect(signal?.aborted).toBe(false);
  tellSignal(request, 'over');
  expect(signal?.reason).toBe('over');
});

test('a signal that is passed tells what the client did before and does later', () => {
  for (const abortsFirst of [true, false]) {
    const client = new AbortController();
    const request = requestOf(client.signal);
    holdSignal(request);
    const { signal } = request;
    if (abortsFirst) client.abort('gone');
    passSignal(request);
    expect(signal?.aborted).toBe(abortsFirst);
    client.abort('gone');
    expect(signal?.reason).toBe('gone');
  }
});

test('a signal that nobody asked for, or that is not held, stays the own one of the request', () => {
  const client = new AbortController();
  const request = requestOf(client.signal);
  tellSignal(request);
  holdSignal(request);
  passSignal(request);
  expect(request.signal).toBe(client.signal);
  client.abort();
  const without = {};
  holdSignal(without);
  expect('signal' in without).toBe(false);
});

test('a request whose signal is undefined passes none', () => {
  const request = requestOf(undefined);
  holdSignal(request);
  expect(request.signal?.aborted).toBe(false);
  expect(() => passSignal(request)).not.toThrow();
});
