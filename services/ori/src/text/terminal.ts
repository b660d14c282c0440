import type { Writable } from 'node:stream';
import { printable, printableJson, printableLines } from '@ori/faces/printable';
import { type Cell, renderTable } from '@ori/faces/table';

export interface OutputStream extends Writable {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export function createTerminal(
  stdout: OutputStream,
  stderr: OutputStream,
  options: { verbose: boolean; json: boolean },
) {
  const record = (value: Record<string, unknown>) => void stderr.write(`${printableJson(value)}\n`);
  const printJson = (value: unknown) => void stdout.write(`${printableJson(value, 2)}\n`);
  const note = (lines: readonly string[]) =>
    options.json ? record({ note: lines.join(' ') }) : writeLines(stderr, lines);
  return {
    /** Results: stdout, one line each. */
    print: (...lines: string[]) => writeLines(stdout, lines),
    /** Rows under the names of their members: stdout, truncated to the width of the terminal. */
    printTable: (rows: readonly Readonly<Record<string, Cell>>[]) => {
      // 0 is the width of a terminal that does not know its own.
      const columns = (stdout.isTTY && stdout.columns) || undefined;
      writeLines(stdout, renderTable(rows, { columns }));
    },
    /** A result for scripts: stdout, JSON. */
    printJson,
    /** The same result: with `--json` the value, otherwise its lines. */
    result: (value: unknown, ...lines: string[]) =>
      options.json ? printJson(value) : writeLines(stdout, lines),
    /** Information for the user: stderr. With `--json` as `{"note"}`. */
    note: (...lines: string[]) => note(lines),
    /** A step that the user, or a script on their behalf, has to take: stderr. With `--json` the record. */
    event: (value: Record<string, unknown>, ...lines: string[]) =>
      options.json ? record(value) : writeLines(stderr, lines),
    /** The same as `note`, with `--verbose` only. */
    detail: (line: string) => {
      if (options.verbose) note([line]);
    },
    /**
     * A daemon's answer: stdout. Byte for byte to a file or a pipe; on a terminal as text with visible control
     * characters.
     */
    printBody: async (body: AsyncIterable<Uint8Array>) => {
      for await (const chunk of stdout.isTTY ? asText(body) : body) {
        if (!stdout.write(chunk)) await drained(stdout);
      }
    },
  };
}

/**
 * The two streams of a command. All text is escaped here, once; only the body of a daemon's answer is not, and never on
 * a terminal.
 */
export type Terminal = ReturnType<typeof createTerminal>;

function writeLines(stream: Writable, lines: readonly string[]): void {
  for (const line of lines) stream.write(`${printable(line)}\n`);
}

async function* asText(body: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let last = '\n';
  for await (const chunk of body) {
    const text = printableLines(decoder.decode(chunk, { stream: true }));
    if (text === '') continue;
    last = text;
    yield text;
  }
  const rest = decoder.decode();
  if (rest !== '' || !last.endsWith('\n')) yield `${rest}\n`;
}

/** Resolves when the stream takes more, or never will. */
export function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      stream.off('drain', settle).off('close', settle).off('error', settle);
      resolve();
    };
    stream.once('drain', settle).once('close', settle).once('error', settle);
  });
}
