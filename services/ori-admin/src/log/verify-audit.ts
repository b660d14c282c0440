import { open, readFile } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { createLogClient, rememberInFile, rememberInMemory } from '@ori/tlog/client';
import { entryOfLine, NO_COMMITMENT, parseEntry } from '@ori/tlog/entry';
import { TlogError } from '@ori/tlog/error';
import { COMPLETE, parsePolicy } from '@ori/tlog/policy';
import { TILE_WIDTH } from '@ori/tlog/tile';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { PartialFailure, UsageError } from '../failure.ts';

export interface VerifyOptions {
  policy: string;
  remember?: string;
  partial?: true;
  requireMlDsa?: boolean;
}

const TOLD_MAX = 20;
/** How far the clocks of the log, a signer and this machine may be apart, and a line be younger than its time. */
const CLOCK_TOLERANCE_SECONDS = 5;

/** Compares audit files with the log. @throws PartialFailure if they disagree, or the log is not available or not trusted */
export async function verifyAudit(
  admin: Context,
  files: readonly string[],
  options: VerifyOptions,
): Promise<void> {
  try {
    const findings = await compare(files, options, (line) => admin.progress.show(line)).finally(
      admin.progress.end,
    );
    const { lines, newer, leaves, unmatched, wrong } = findings;
    admin.report(
      { lines, lines_newer_than_log: newer, leaves, leaves_without_line: unmatched, findings: wrong },
      {
        lines: wrong.slice(0, TOLD_MAX),
        note: `${lines} lines, ${newer} newer than the tree; ${leaves} leaves, ${unmatched} without a line here.`,
      },
    );
    if (wrong.length > 0) {
      const next = 'The log records what was signed at the time: find out who changed the files.';
      throw new PartialFailure(`The files and the log disagree in ${wrong.length} places.`, next);
    }
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    const exit = error.code === 'unavailable' ? EXIT.unavailable : EXIT.conflict;
    throw new PartialFailure(`The log: ${error.message}`, `The error code is ${error.code}.`, exit);
  }
}

/** Reads the whole log, verifies the inclusion of each entry, and looks up every line in it. */
async function compare(
  files: readonly string[],
  { policy: policyFile, remember, partial, requireMlDsa = false }: VerifyOptions,
  show: (line: string) => void,
) {
  const remembered = remember === undefined ? rememberInMemory() : rememberInFile(remember);
  const policy = parsePolicy(await readFile(policyFile, 'utf8'), { requireMlDsa });
  const client = createLogClient({ policy, remembered });
  const head = await client.latest();
  const newerThan = (head.witnessed.get(COMPLETE) ?? Number.POSITIVE_INFINITY) - CLOCK_TOLERANCE_SECONDS;
  /** Leaf indexes by the commitment to the line, and by the commitment to the proof. */
  const byLine = new Map<string, number[]>();
  const byProof = new Map<string, number>();
  for (let bundle = 0; bundle * TILE_WIDTH < head.size; bundle++) {
    for (const [at, bytes] of (await client.bundle(bundle, head)).entries()) {
      const index = bundle * TILE_WIDTH + at;
      const entry = parseEntry(bytes);
      const same = byLine.get(hex(entry.line));
      if (same === undefined) byLine.set(hex(entry.line), [index]);
      else same.push(index);
      if (entry.kind === 'proof') byProof.set(hex(entry.v2), index);
    }
    show(`reading the log: ${Math.min(head.size, (bundle + 1) * TILE_WIDTH)} of ${head.size} leaves`);
  }
  // That of each line without a proof of version 2: it identifies none.
  byProof.delete(hex(NO_COMMITMENT));
  const wrong: string[] = [];
  const matched = new Set<number>();
  let lines = 0;
  let newer = 0;
  for (const file of files) {
    let last = -1;
    let number = 0;
    /** Lines that may be newer than the tree, if no line after them is in it. */
    let atEnd: string[] = [];
    for await (const line of wholeLines(file)) {
      number += 1;
      if (line.length === 0) continue;
      lines += 1;
      const entry = entryOfLine(line);
      const index = byLine.get(hex(entry.line))?.find((leaf) => !matched.has(leaf));
      if (index === undefined) {
        const isProof = entry.kind === 'proof' && entry.of === 'proof';
        const proof = isProof ? byProof.get(hex(entry.v2)) : undefined;
        const what = proof === undefined ? 'not in the log' : `changed: leaf ${proof} has another line`;
        const time = secondsOf(line);
        const isPast = time <= Date.now() / 1000 + CLOCK_TOLERANCE_SECONDS;
        const mayBeNewer = proof === undefined && time > newerThan && isPast;
        (mayBeNewer ? atEnd : wrong).push(`${file}:${number}: ${what}`);
        if (proof !== undefined) matched.add(proof);
        continue;
      }
      wrong.push(...atEnd);
      atEnd = [];
      matched.add(index);
      if (index < last) wrong.push(`${file}:${number}: moved: leaf ${index} comes after leaf ${last}`);
      last = index;
    }
    newer += atEnd.length;
  }
  const unmatched = head.size - matched.size;
  for (let leaf = 0; partial !== true && leaf < head.size; leaf++) {
    if (!matched.has(leaf)) wrong.push(`leaf ${leaf}: its line was removed, or its file is not among these`);
  }
  return { lines, newer, leaves: head.size, unmatched, wrong };
}

/** The time of an audit line, Unix seconds; NaN where it has none. */
function secondsOf(line: Buffer): number {
  return Date.parse(/^\{"time":"([^"]{24})"/.exec(line.toString('latin1'))?.[1] ?? '') / 1000;
}

/** The lines of a file that end with a newline: an unfinished last line was never acknowledged. */
async function* wholeLines(path: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of contentOf(path)) {
    rest = Buffer.concat([rest, chunk]);
    let at = 0;
    for (let end = rest.indexOf(0x0a); end >= 0; end = rest.indexOf(0x0a, at)) {
      yield rest.subarray(at, end);
      at = end + 1;
    }
    rest = rest.subarray(at);
  }
}

/** @throws UsageError for a compressed file that is cut or damaged */
async function* contentOf(path: string): AsyncGenerator<Buffer> {
  const bytes = (await open(path)).createReadStream();
  try {
    yield* path.endsWith('.gz') ? pipeline(bytes, createGunzip(), () => undefined) : bytes;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))) throw error;
    throw new UsageError(
      `Cannot decompress ${JSON.stringify(path)}: ${error.message}.`,
      'Find a whole copy of it; --partial verifies the other files.',
    );
  }
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
