import type { Writable } from 'node:stream';
import { printable, printableJson, printableLines } from '@ori/terminal/printable';

/** Where output goes, and whether a person looks at it. */
export interface OutputStream extends Writable {
  readonly isTTY?: boolean;
}

/**
 * The two streams of a command. All text is escaped here, once; only a daemon's body goes past it, and never
 * to a screen.
 */
export interface Terminal {
  /** Results: stdout, one line each. */
  print(...lines: string[]): void;
  /** A result for scripts: stdout, JSON. */
  printJson(value: unknown): void;
  /** What a person should know meanwhile: stderr. With `--json` as `{"note"}`. */
  note(...lines: string[]): void;
  /** What a person, or a script that acts for one, has to do meanwhile: stderr. With `--json` the record. */
  event(record: Record<string, unknown>, ...lines: string[]): void;
  /** The same, with `--verbose` only. */
  detail(line: string): void;
  /**
   * A daemon's answer: stdout. Byte for byte into a file or a pipe; on a screen as text, its control
   * characters made visible.
   */
  printBody(body: AsyncIterable<Uint8Array>): Promise<void>;
}

/** A terminal over two streams. */
export function createTerminal(
  stdout: OutputStream,
  stderr: OutputStream,
  options: { verbose: boolean; json: boolean },
): Terminal {
  const record = (value: Record<string, unknown>) => void stderr.write(`${printableJson(value)}\n`);
  const note = (lines: readonly string[]) =>
    options.json ? record({ note: lines.join(' ') }) : writeLines(stderr, lines);
  return {
    print: (...lines) => writeLines(stdout, lines),
    printJson: (value) => void stdout.write(`${printableJson(value, 2)}\n`),
    note: (...lines) => note(lines),
    event: (value, ...lines) => (options.json ? record(value) : writeLines(stderr, lines)),
    detail: (line) => {
      if (options.verbose) note([line]);
    },
    printBody: async (body) => {
      for await (const chunk of stdout.isTTY ? asText(body) : body) {
        if (!stdout.write(chunk)) await drained(stdout);
      }
    },
  };
}

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

function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      stream.off('drain', settle).off('close', settle).off('error', settle);
      resolve();
    };
    stream.once('drain', settle).once('close', settle).once('error', settle);
  });
}
