import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { linesOf } from './lines.ts';

async function read(pieces: string[], bytesMax = 100): Promise<(string | undefined)[]> {
  const lines: (string | undefined)[] = [];
  const stream = Readable.from(pieces.map((piece) => Buffer.from(piece)));
  for await (const line of linesOf(stream, bytesMax, new AbortController().signal))
    lines.push(line?.toString());
  return lines;
}

it('ends a line at a line feed alone, wherever the pieces end', async () => {
  const text = '{"a":"\u2028\u0085\r"}\n\n \r\nb\r\nc';
  const lines = ['{"a":"\u2028\u0085\r"}', 'b\r', 'c'];
  expect(await read([text])).toEqual(lines);
  expect(await read([...text])).toEqual(lines);
});

it('leaves a line out that is too long, and goes on with the next', async () => {
  expect(await read(['12345', '6\n1234', '5\n', '123456'], 5)).toEqual([undefined, '12345', undefined]);
});

it('ends when it is interrupted', async () => {
  const interrupted = new AbortController();
  const stream = new Readable({ read: () => {} });
  stream.push('a\n');
  const lines = linesOf(stream, 5, interrupted.signal)[Symbol.asyncIterator]();
  expect((await lines.next()).value?.toString()).toBe('a');
  const next = lines.next();
  interrupted.abort();
  expect((await next).done).toBe(true);
});
