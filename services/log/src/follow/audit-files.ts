import { constants, type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ifThere } from '../disk/durable-file.ts';
import { LogError } from '../log-error.ts';
import { digestOf, type Peeked, type Position } from './position.ts';

const READ_BYTES = 1024 * 1024;
/** A first line is shorter: a path has 2 KiB, and the rest has less. */
const FIRST_LINE_BYTES = 16 * 1024;
/** How many finished files are remembered, so that none is read again after the clock was set back. */
const DONE_MAX = 32;
/** Names of rotated files that were read before they were compressed. */
const COMPRESSED = /\.(gz|xz|zst|bz2|draft|tmp)$/;

const NEWLINE = 0x0a;

/** A file that is being read. */
interface OpenFile {
  readonly handle: FileHandle;
  readonly inode: number;
  readonly id: string;
  /** The time of the first line, which orders the files of one signer. */
  readonly firstTime: string;
}

/**
 * Follows an audit file through rotations: reads a file to its end, then the one that was begun next. A file is identified by
 * its first line, so it may be renamed, copied or restored at any time. A signer begins the next file only after it has finished
 * the current one, so the current one is complete as soon as the next one has a line.
 */
export async function followFile(path: string, start: Position | undefined) {
  let file: OpenFile | undefined;
  let id = start?.file;
  let done = start?.done ?? [];
  let offset = start?.offset ?? 0;
  let last = start?.last ?? '';
  /** When the file had changed before it was last checked, in milliseconds. Unlike the time of its content, nobody can set it. */
  let changedAt = 0;
  /** The next state, once what was peeked is taken. */
  let after = { offset, last };
  const chunk = Buffer.allocUnsafe(READ_BYTES);

  async function openCurrent(): Promise<OpenFile | undefined> {
    const all = await filesOf(path);
    const found = id === undefined ? all[0] : all.find((one) => one.id === id);
    let kept: OpenFile | undefined;
    try {
      if (found === undefined && id !== undefined) {
        const where = `${JSON.stringify(path)} and the files beside it`;
        throw new LogError(
          'audit_file_missing',
          `the file that was read to byte ${offset} is not among ${where}`,
        );
      }
      if (found !== undefined && offset > 0 && !(await isUnchanged(found.handle, offset, last))) {
        throw new LogError(
          'audit_file_changed',
          `the line before byte ${offset} is not the one that was read`,
        );
      }
      kept = found;
      id = found?.id;
      return found;
    } finally {
      await closeBut(all, kept);
    }
  }

  /** The file that was begun after `former`; it has at least one line. */
  async function openNext(former: OpenFile): Promise<OpenFile | undefined> {
    const inode = (await inodeAt(path)) ?? former.inode;
    if (inode === former.inode) return undefined;
    const all = await filesOf(path);
    const others = all.filter((one) => one.id !== former.id && !done.includes(one.id));
    const later = others.find(({ firstTime }) => former.firstTime !== '' && firstTime > former.firstTime);
    const next = later ?? others.find((one) => one.inode === inode);
    await closeBut(all, next);
    return next;
  }

  async function readOn({ handle, id: known }: OpenFile): Promise<Peeked> {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, offset);
    const split = splitLines(chunk.subarray(0, bytesRead));
    if (split.bytes === 0 && bytesRead === chunk.length) {
      throw new LogError(
        'audit_file_changed',
        `${JSON.stringify(path)} has a line of more than ${READ_BYTES} bytes`,
      );
    }
    const line = split.lines.at(-1);
    after = { offset: offset + split.bytes, last: line === undefined ? last : digestOf(line) };
    const lines = split.lines.map((one) => Buffer.from(one));
    return { lines, position: { file: known, ...after, done }, isAtEnd: bytesRead < chunk.length };
  }

  /** Checks after the read that a changed file still has the last line read, in its place. */
  async function isStillTheSame({ handle }: OpenFile): Promise<boolean> {
    const { ctimeMs } = await handle.stat();
    if (ctimeMs === changedAt) return true;
    const is = offset === 0 || (await isUnchanged(handle, offset, last));
    if (is) changedAt = ctimeMs;
    return is;
  }

  /** Whether a copy took the place of the file, which may have more lines. */
  async function isReplaced(former: OpenFile): Promise<boolean> {
    if ((await former.handle.stat()).nlink > 0) return false;
    const all = await filesOf(path);
    await closeBut(all, undefined);
    return all.some(({ id, inode }) => id === former.id && inode !== former.inode);
  }

  return {
    /** The next lines. The same ones again until they are taken. @throws LogError, or as the file system does */
    async peek(): Promise<Peeked> {
      for (;;) {
        file ??= await openCurrent();
        if (file === undefined) {
          if ((await inodeAt(path)) !== undefined) return { lines: [], position: undefined, isAtEnd: true };
          throw new LogError('audit_file_missing', `${JSON.stringify(path)} is not there`);
        }
        // Checked before the read: if there is a next file or a copy, nothing will be appended to this one.
        const isOver = await isReplaced(file);
        const next = await openNext(file);
        try {
          const peeked = await readOn(file);
          if (!(await isStillTheSame(file)) || (isOver && peeked.lines.length === 0)) {
            // Copied, and truncated or deleted: the copy is found by the first line, or the next read reports the error.
            await file.handle.close();
            file = undefined;
            continue;
          }
          if (peeked.lines.length > 0 && (isOver || next !== undefined)) return { ...peeked, isAtEnd: false };
          if (next === undefined) return peeked;
          await file.handle.close();
          done = [...done, file.id].slice(-DONE_MAX);
          file = next;
          id = next.id;
          offset = 0;
          last = '';
        } finally {
          if (next !== file) await next?.handle.close();
        }
      }
    },
    /** Marks the lines of the last `peek` as appended to the tree. */
    take(): void {
      ({ offset, last } = after);
    },
    async close(): Promise<void> {
      await file?.handle.close();
    },
  };
}

/** The audit lines of one signer, in the order in which it wrote them. */
export type Source = Awaited<ReturnType<typeof followFile>>;

/**
 * The inode of the file at `path`, which a signer creates when it starts; undefined if nothing is there.
 * @throws LogError if it is something else: a pipe, whose lines cannot be read again after a restart
 */
async function inodeAt(path: string): Promise<number | undefined> {
  const there = await ifThere(stat(path));
  if (there?.isFile() === false) {
    throw new LogError('audit_file_missing', `${JSON.stringify(path)} is no regular file`);
  }
  return there?.ino;
}

/** The file at `path` and those that were rotated away from it, as far as they have a line, by the time of their first one. */
async function filesOf(path: string): Promise<OpenFile[]> {
  const folder = dirname(path);
  const name = basename(path);
  const files: OpenFile[] = [];
  try {
    for (const entry of await readdir(folder)) {
      if (!entry.startsWith(name) || COMPRESSED.test(entry)) continue;
      const file = await identify(join(folder, entry));
      if (file !== undefined) files.push(file);
    }
  } catch (error) {
    await closeBut(files, undefined);
    throw error;
  }
  return files.sort((one, other) => (one.firstTime < other.firstTime ? -1 : 1));
}

async function identify(path: string): Promise<OpenFile | undefined> {
  // A pipe is opened without waiting for its writer.
  const handle = await ifThere(open(path, constants.O_RDONLY | constants.O_NONBLOCK));
  if (handle === undefined) return undefined;
  let file: OpenFile | undefined;
  try {
    const head = Buffer.alloc(FIRST_LINE_BYTES);
    const facts = await handle.stat();
    const { bytesRead } = facts.isFile() ? await handle.read(head, 0, head.length, 0) : { bytesRead: 0 };
    const { lines } = splitLines(head.subarray(0, bytesRead));
    const [line] = lines;
    if (line === undefined) return undefined;
    const firstTime = lines.map(timeOf).find((time) => time !== '') ?? '';
    file = { handle, inode: facts.ino, id: digestOf(line), firstTime };
    return file;
  } finally {
    if (file === undefined) await handle.close();
  }
}

function timeOf(line: Buffer): string {
  return /^\{"time":"([^"]{24})"/.exec(line.toString('latin1'))?.[1] ?? '';
}

async function closeBut(files: readonly OpenFile[], kept: OpenFile | undefined): Promise<void> {
  for (const file of files) if (file !== kept) await file.handle.close();
}

/** Whether the line before `offset` is the one that was read last. */
async function isUnchanged(handle: FileHandle, offset: number, last: string): Promise<boolean> {
  const from = Math.max(0, offset - FIRST_LINE_BYTES);
  const bytes = Buffer.alloc(offset - from);
  await handle.read(bytes, 0, bytes.length, from);
  const line = splitLines(bytes).lines.at(-1) ?? Buffer.alloc(0);
  return bytes.at(-1) === NEWLINE && digestOf(line) === last;
}

/** The complete lines of `bytes` without empty ones, and the number of bytes up to the last newline. */
export function splitLines(bytes: Buffer): { lines: Buffer[]; bytes: number } {
  const lines: Buffer[] = [];
  let at = 0;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, at)) {
    if (end > at) lines.push(bytes.subarray(at, end));
    at = end + 1;
  }
  return { lines, bytes: at };
}
