import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditEntry } from '@ori/administration/audit';
import { afterAll, expect, it } from 'vitest';
import { openExportFile, readExport } from './audit-export.ts';
import { UsageError } from './failure.ts';

const folder = await mkdtemp(join(tmpdir(), 'ori-export-'));
afterAll(() => rm(folder, { recursive: true }));
const path = join(folder, 'audit.jsonl');

const entryOf = (seq: number, after: Record<string, unknown>): AuditEntry => ({
  seq,
  at: '2026-01-01T00:00:00.000Z',
  transaction: String(seq),
  login: 'grace',
  actor: 'grace',
  break_glass: false,
  organization_id: null,
  table_name: 'users',
  row_key: `user_${seq}`,
  operation: 'insert',
  before: null,
  after,
});
/** The third is longer than what is read of the end at first. */
const ENTRIES = [
  entryOf(1, { name: 'Ada' }),
  entryOf(3, { name: 'Žofie' }),
  entryOf(4, { rows: 'x'.repeat(200_000) }),
  entryOf(7, { name: 'Eve' }),
];
const LINES = ENTRIES.map((entry) => `${JSON.stringify(entry)}\n`);
const WHOLE = LINES.join('');

async function* after(seq: number) {
  yield* ENTRIES.filter((entry) => entry.seq > seq);
}

async function exportTo(file: string): Promise<number> {
  await using opened = await openExportFile(file);
  return await opened.append(after(opened.last?.seq ?? 0));
}

async function readWhole(): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for await (const entry of readExport(path)) entries.push(entry);
  return entries;
}

it('completes a file that was cut off, without a gap or a duplicate', async () => {
  const bytes = Buffer.from(WHOLE);
  const cuts: number[] = [];
  const first = bytes.indexOf('\n');
  for (const around of [0, first, bytes.indexOf('\n', first + 1), bytes.lastIndexOf('\n', -2), bytes.length])
    cuts.push(...Array.from({ length: 25 }, (_, i) => around - 12 + i));
  for (const cut of cuts.filter((each) => each >= 0 && each <= bytes.length)) {
    await writeFile(path, bytes.subarray(0, cut));
    await exportTo(path);
    expect((await readFile(path)).equals(bytes), `cut after ${cut} bytes`).toBe(true);
  }
  expect(await exportTo(path)).toBe(0);
});

it.each([
  ['within its last line', -20, 3],
  ['within the first bytes of that', 3 - (LINES[3]?.length ?? 0), 3],
  ['before its last line feed', -1, 4],
  ['after it', undefined, 4],
])('reads what is complete of a file that was cut off %s', async (_where, cut, complete) => {
  await writeFile(path, Buffer.from(WHOLE).subarray(0, cut));
  expect(await readWhole()).toEqual(ENTRIES.slice(0, complete));
});

it('leaves a file alone that is not an export', async () => {
  for (const content of ['{"keys":[]}', 'a note\n', '{"seq":"1"}\n', `${WHOLE}a note`]) {
    await writeFile(path, content);
    await expect(openExportFile(path)).rejects.toThrow(UsageError);
    await expect(readWhole()).rejects.toThrow(UsageError);
    expect(await readFile(path, 'utf8')).toBe(content);
  }
  await expect(openExportFile(folder)).rejects.toMatchObject({ code: 'EISDIR', path: folder });
  await expect(openExportFile('/dev/null')).rejects.toThrow(UsageError);
});

it('keeps what is complete if the changes cannot be read to the end', async () => {
  await rm(path);
  async function* failing() {
    yield* ENTRIES.slice(0, 2);
    throw new Error('the database is gone');
  }
  await appendFile(path, '{"se');
  await using opened = await openExportFile(path);
  await expect(opened.append(failing())).rejects.toThrow('the database is gone');
  await exportTo(path);
  expect(await readFile(path, 'utf8')).toBe(WHOLE);
});
