import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { writeTogether } from './write-together.ts';

/** A stream that notes what each system call would carry. */
function recorder(): { stream: Writable; calls: string[] } {
  const calls: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      calls.push(String(chunk));
      done();
    },
    writev(chunks, done) {
      calls.push(chunks.map(({ chunk }) => String(chunk)).join(''));
      done();
    },
  });
  writeTogether(stream);
  return { stream, calls };
}

it('what is written in one turn goes out together and in order, whatever microtasks lie between', async () => {
  const { stream, calls } = recorder();
  stream.write('a');
  await null;
  stream.write('b');
  process.nextTick(() => stream.write('c'));
  await null;
  expect(calls).toEqual([]);
  await turn();
  expect(calls).toEqual(['abc']);
});

it('each turn is sent at its own end', async () => {
  const { stream, calls } = recorder();
  for (const text of ['a', 'b', 'c']) {
    stream.write(text);
    await turn();
  }
  expect(calls).toEqual(['a', 'b', 'c']);
});

it('what was written before the end of a stream is sent', async () => {
  const { stream, calls } = recorder();
  stream.write('a');
  stream.end('b');
  await turn();
  expect(calls.join('')).toBe('ab');
});

it('much in one turn does not wait for its end', async () => {
  const { stream, calls } = recorder();
  for (const text of 'abcdefghijklmnopqrst') stream.write(text);
  expect(calls).toEqual(['abcdefgh', 'ijklmnop']);
  await turn();
  expect(calls).toEqual(['abcdefgh', 'ijklmnop', 'qrst']);
  for (const text of 'abcdefgh') stream.write(text);
  expect(calls.at(-1)).toBe('abcdefgh');
  await turn();
  expect(calls).toHaveLength(4);
});
