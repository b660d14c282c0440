import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { AuditEntry } from '@ori/administration/audit';
import { UsageError } from './failure.ts';

const BEGINNING = '{"seq":';
const NEWLINE = 0x0a;
const TAIL_BYTES = 64 * 1024;
const WRITE_BYTES = 1024 * 1024;

/**
 * Opens the file, or creates it with mode 0600. Changes nothing before `append`.
 *
 * @throws UsageError if it does not end like an export
 */
export async function openExportFile(path: string) {
  const file = await open(path, 'a+', 0o600);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new UsageError(`${path} is not a regular file.`);
    const { line, end, rest } = await readEnd(file, stats.size);
    if (rest !== BEGINNING.slice(0, rest.length)) throw notAnExport(path);
    return {
      /** The last change in it; undefined for a new file. */
      last: line === undefined ? undefined : parseExport(path, [line])[0],
      /** Removes an incomplete last line, then appends. Returns the number of changes once they are on disk. */
      async append(entries: AsyncIterable<AuditEntry>): Promise<number> {
        await file.truncate(end);
        const count = await appendLines(file, entries);
        await file.datasync();
        return count;
      },
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * The changes in an export, which may have been interrupted; of years, it is larger than a string may be.
 *
 * @throws UsageError if the file is not an export
 */
export async function* readExport(path: string): AsyncGenerator<AuditEntry> {
  let rest = '';
  for await (const text of createReadStream(path, 'utf8')) {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    yield* parseExport(path, lines);
  }
  if (!isCut(rest)) yield* parseExport(path, [rest]);
}

function isCut(line: string): boolean {
  if (!BEGINNING.startsWith(line.slice(0, BEGINNING.length))) return false;
  try {
    JSON.parse(line);
    return false;
  } catch {
    return true;
  }
}

function parseExport(path: string, lines: readonly string[]): AuditEntry[] {
  try {
    const entries = lines.filter((line) => line !== '').map((line): AuditEntry => JSON.parse(line));
    if (entries.every(({ seq, transaction }) => Number.isInteger(seq) && typeof transaction === 'string'))
      return entries;
  } catch {
    // Reported below, without the contents of the file.
  }
  throw notAnExport(path);
}

function notAnExport(path: string): UsageError {
  return new UsageError(`${path}: expected the lines that ori-admin audit export prints.`);
}

/** The last complete line, the offset of its end, and the first bytes after it. */
async function readEnd(
  file: FileHandle,
  size: number,
): Promise<{ line: string | undefined; end: number; rest: string }> {
  for (let length = TAIL_BYTES; ; length *= 2) {
    const start = Math.max(0, size - length);
    const { buffer } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
    const last = buffer.lastIndexOf(NEWLINE);
    const previous = last <= 0 ? -1 : buffer.lastIndexOf(NEWLINE, last - 1);
    if (previous === -1 && start > 0) continue;
    return {
      line: last === -1 ? undefined : buffer.toString('utf8', previous + 1, last),
      end: start + last + 1,
      rest: buffer.toString('utf8', last + 1, last + 1 + BEGINNING.length),
    };
  }
}

async function appendLines(file: FileHandle, entries: AsyncIterable<AuditEntry>): Promise<number> {
  let count = 0;
  let lines = '';
  for await (const entry of entries) {
    lines += `${JSON.stringify(entry)}\n`;
    count++;
    if (lines.length >= WRITE_BYTES) {
      await file.appendFile(lines);
      lines = '';
    }
  }
  await file.appendFile(lines);
  return count;
}
