import { expect, it } from 'vitest';
import type { DaemonAnswer } from '../delivery/daemon-answer.ts';
import { textsOf } from './answer.ts';

const ORIGIN = new URL('http://127.0.0.1:1');

/** The first texts of a stream that its server leaves open. */
async function textsOfStream(count: number, chunks: readonly string[]) {
  async function* body() {
    for (const chunk of chunks) yield Buffer.from(chunk);
    await new Promise(() => {});
  }
  const answer = {
    mediaType: 'text/event-stream',
    body: body(),
  } as unknown as DaemonAnswer;
  const texts: string[] = [];
  for await (const text of textsOf(answer, ORIGIN)) if (texts.push(text) === count) return texts;
  return texts;
}

// HTML, section 9.2.6: a line ends with CRLF, LF or CR.
it.each([
  ['CR', ['data: 1\r\rdata: 2\r\r']],
  ['CR, one byte at a time', [...'data: 1\r\rdata: 2\r\r']],
  ['CRLF, one byte at a time', [...'data: 1\r\n\r\ndata: 2\r\n\r\n']],
  ['CR before LF', ['data: 1\r', '\n', '\ndata: 2\r\n', '\r']],
])('yields each event as soon as its last line has ended, whether with %s', async (_end, chunks) => {
  expect(await textsOfStream(2, chunks)).toEqual(['1', '2']);
});
