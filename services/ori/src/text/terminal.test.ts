import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { createTerminal, type OutputStream } from './terminal.ts';

const STEERING = '\u001b]0;owned\u0007';

function sink(isTTY: boolean): { stream: OutputStream; bytes: () => Buffer } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  return { stream: Object.assign(stream, { isTTY }), bytes: () => Buffer.concat(chunks) };
}

async function* pieces(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

it('writes the daemon’s bytes unchanged to a file or a pipe', async () => {
  const body = Buffer.concat([Buffer.from(STEERING), Buffer.from([0, 0xff, 0xfe])]);
  const out = sink(false);
  await createTerminal(out.stream, out.stream, { verbose: false, json: false }).printBody(pieces(body, 3));
  expect(out.bytes()).toEqual(body);
});

it('writes no control character to a terminal, however the bytes are split', async () => {
  const body = Buffer.from(`é${STEERING}世界\u009b31m\u202e`);
  for (let size = 1; size <= body.length; size += 1) {
    const out = sink(true);
    await createTerminal(out.stream, out.stream, { verbose: false, json: false }).printBody(
      pieces(body, size),
    );
    expect(out.bytes().toString()).toBe('é\\u{1b}]0;owned\\u{7}世界\\u{9b}31m\\u{202e}\n');
  }
});

it('shows bytes that are not text as such, and always ends the line', async () => {
  const out = sink(true);
  await createTerminal(out.stream, out.stream, { verbose: false, json: false }).printBody(
    pieces(Buffer.from([0xff, 0xe4]), 1),
  );
  expect(out.bytes().toString()).toBe('\ufffd\ufffd\n');
});

it('escapes results and notes, and prints details only with --verbose', () => {
  const out = sink(true);
  const err = sink(true);
  const terminal = createTerminal(out.stream, err.stream, { verbose: false, json: false });
  terminal.print(STEERING);
  terminal.printJson({ text: '\u009b' });
  terminal.note(STEERING);
  terminal.detail('not shown');
  expect(out.bytes().toString()).toBe('\\u{1b}]0;owned\\u{7}\n{\n  "text": "\\u009b"\n}\n');
  expect(err.bytes().toString()).toBe('\\u{1b}]0;owned\\u{7}\n');
  createTerminal(out.stream, err.stream, { verbose: true, json: false }).detail('shown');
  expect(err.bytes().toString()).toContain('shown');
});

it.each([
  [true, 20, 'NAME\nlong long long long…\n'],
  [true, 0, `NAME\n${'long '.repeat(20).trim()}\n`],
  [false, 20, `NAME\n${'long '.repeat(20).trim()}\n`],
])('cuts a table only to the width of a terminal: %s, %d columns', (isTTY, columns, shown) => {
  const out = sink(isTTY);
  const stream = Object.assign(out.stream, { columns });
  const terminal = createTerminal(stream, stream, { verbose: false, json: false });
  terminal.printTable([{ name: 'long '.repeat(20).trim() }]);
  expect(out.bytes().toString()).toBe(shown);
});
