import { expect, onTestFinished, test, vi } from 'vitest';
import { BodyBuffer } from './body-buffer.ts';

test('copies a body that arrives byte by byte a few times, not once for each byte', () => {
  const set = vi.spyOn(Uint8Array.prototype, 'set');
  onTestFinished(() => void set.mockRestore());
  const body = Uint8Array.from({ length: 1000 }, (_, index) => index);
  const buffer = new BodyBuffer();
  for (const byte of body) buffer.add(Uint8Array.of(byte));
  const copied = set.mock.calls.reduce((bytes, [source]) => bytes + source.length, 0);
  expect(copied).toBeLessThan(4 * body.length);
  expect(buffer.bytes()).toEqual(body);
});
