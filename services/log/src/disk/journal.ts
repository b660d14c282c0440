import { constants } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ENTRY_BYTES } from '@ori/tlog/entry';
import { piecesOf } from '@ori/tlog/merkle';
import { type Edge, openTree, parseEdge, renderEdge } from '@ori/tlog/tree';
import { DIGEST_CHARACTERS, digestOf, type Position, type Positions } from '../follow/position.ts';
import { LogError } from '../log-error.ts';
import { syncFolder } from './durable-file.ts';

/** Entries of lines, and the position after them in each file that they came from. */
export interface Appended {
  readonly entries: readonly Uint8Array[];
  readonly positions: Positions;
}

const { O_APPEND, O_CREAT, O_RDWR, O_TRUNC } = constants;

/**
 * Opens or creates a journal: the entries of the tree in order, and how far each source was read. One record per append, so that an
 * entry and the position after its line are written together or not at all. Everything else in the log's folder is derived from
 * it. A torn last record is removed, because it was never acknowledged.
 *
 * @throws LogError `journal_damaged` for damage anywhere else
 */
export async function openJournal(path: string) {
  let file = await open(path, 'a+', 0o600);
  await syncFolder(dirname(path));
  const content = await file.readFile();
  const { edge, positions, records, bytes } = await readOrClose(file, content);
  if (bytes < content.length) await file.truncate(bytes).then(() => file.datasync());
  let length = bytes;
  let doubtful = false;

  async function write(bytes: Buffer): Promise<void> {
    if (doubtful)
      throw new LogError('disk_doubtful', 'an earlier write to the journal may have been stored in part');
    try {
      await writeAll(file, bytes);
    } catch (cause) {
      await file.truncate(length).catch(() => {
        doubtful = true;
      });
      throw new LogError('disk', 'the journal cannot be written', { cause });
    }
    try {
      await file.datasync();
    } catch (cause) {
      // After a failed fsync the kernel may mark lost pages as clean, so only a restart reads what is really on disk.
      doubtful = true;
      throw new LogError('disk_doubtful', 'the journal cannot be synced', { cause });
    }
    length += bytes.length;
  }

  return {
    edge,
    positions,
    /** Since the edge, in order. */
    records,
    journal: {
      get bytes() {
        return length;
      },
      /** Resolves once it is durable. If it fails, nothing was appended. @throws LogError `disk` or `disk_doubtful` */
      append: (appended: Appended) => write(renderAppended(appended)),
      /** Compacts the journal to a tree and the records since. @throws as `append` */
      async restart(edge: Edge, positions: Positions, since: readonly Appended[]): Promise<void> {
        const start = renderRecord({ edge: renderEdge(edge), positions });
        const whole = Buffer.concat([start, ...since.map(renderAppended)]);
        const draft = `${path}.draft`;
        const next = await open(draft, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0o600).catch(fail);
        try {
          await writeAll(next, whole);
          await next.datasync();
          await rename(draft, path);
        } catch (cause) {
          await next.close();
          return fail(cause);
        }
        const former = file;
        file = next;
        length = whole.length;
        await former.close();
        await syncFolder(dirname(path)).catch((cause) => {
          doubtful = true;
          throw new LogError('disk_doubtful', 'the journal cannot be synced', { cause });
        });
      },
      close: () => file.close(),
    },
  };
}

async function readOrClose(file: FileHandle, content: Buffer) {
  try {
    return readJournal(content);
  } catch (error) {
    await file.close();
    throw error;
  }
}

function fail(cause: unknown): never {
  throw new LogError('disk', 'the journal cannot be compacted', { cause });
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, null);
    done += bytesWritten;
  }
}

function renderAppended({ entries, positions }: Appended): Buffer {
  return renderRecord({ entries: Buffer.concat(entries).toString('base64'), positions });
}

function renderRecord(record: Record): Buffer {
  const json = JSON.stringify(record);
  return Buffer.from(`${digestOf(Buffer.from(json))} ${json}\n`);
}

interface Record {
  readonly edge?: string;
  readonly entries?: string;
  readonly positions: { readonly [source: string]: Position };
}

function readJournal(content: Buffer) {
  const records: Appended[] = [];
  let edge = openTree().edge();
  let start: Positions = {};
  let at = 0;
  while (at < content.length) {
    const end = content.indexOf('\n', at);
    const record = end < 0 ? undefined : parseRecord(content.toString('utf8', at, end));
    if (record === undefined) {
      if (end >= 0 && end + 1 < content.length) {
        throw new LogError('journal_damaged', `the journal is damaged at byte ${at}`);
      }
      break;
    }
    if (record.edge !== undefined) {
      edge = parseEdge(record.edge);
      start = record.positions;
    } else {
      records.push({
        entries: piecesOf(Buffer.from(record.entries ?? '', 'base64'), ENTRY_BYTES),
        positions: record.positions,
      });
    }
    at = end + 1;
  }
  return { edge, positions: start, records, bytes: at };
}

function parseRecord(line: string): Record | undefined {
  const json = line.slice(DIGEST_CHARACTERS + 1);
  return line.slice(0, DIGEST_CHARACTERS) === digestOf(Buffer.from(json))
    ? (JSON.parse(json) as Record)
    : undefined;
}
