import type { Readable } from 'node:stream';

const LINE_FEED = 0x0a;

/**
 * The lines of a stream, which end with a line feed and nothing else; not by node:readline, which also ends a line at
 * U+2028, a character that JSON may contain. Blank lines are left out. A line of more than `bytesMax` bytes is
 * `undefined`. Ends with the stream, or when `signal` aborts.
 */
export async function* linesOf(
  stream: Readable,
  bytesMax: number,
  signal: AbortSignal,
): AsyncIterable<Buffer | undefined> {
  const stop = () => stream.destroy();
  signal.addEventListener('abort', stop, { once: true });
  let held: Buffer[] = [];
  let bytes = 0;
  const keep = (piece: Buffer) => {
    bytes += piece.length;
    if (bytes <= bytesMax) held.push(piece);
    else held = [];
  };
  const take = () => {
    const line = bytes > bytesMax ? undefined : Buffer.concat(held);
    held = [];
    bytes = 0;
    return line;
  };
  const isWanted = (line: Buffer | undefined) => line === undefined || line.toString('latin1').trim() !== '';
  try {
    for await (const piece of stream) {
      let rest = Buffer.isBuffer(piece) ? piece : Buffer.from(piece);
      for (let end = rest.indexOf(LINE_FEED); end !== -1; end = rest.indexOf(LINE_FEED)) {
        keep(rest.subarray(0, end));
        rest = rest.subarray(end + 1);
        const line = take();
        if (isWanted(line)) yield line;
      }
      keep(rest);
    }
    const last = take();
    if (isWanted(last)) yield last;
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
