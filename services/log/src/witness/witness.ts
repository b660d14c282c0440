import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Checkpoint, parseCheckpoint } from '@ori/tlog/checkpoint';
import { cosign, type NoteSigner, verifyLogSignature } from '@ori/tlog/cosignature';
import { EMPTY_ROOT, isSameHash, verifyConsistency } from '@ori/tlog/merkle';
import { isBy, parseNote, renderNote, renderSignature } from '@ori/tlog/note';
import type { Policy } from '@ori/tlog/policy';
import { makeFolder, readIfThere, replaceFile } from '../disk/durable-file.ts';
import { parseSubmission } from './submission.ts';

/** The answer of a witness: a status of tlog-witness, and a body. */
interface WitnessAnswer {
  readonly status: 200 | 400 | 403 | 404 | 409 | 422;
  readonly body: string;
  /** The log has signed a checkpoint that contradicts the one cosigned. */
  readonly isContradiction?: true;
}

/** Ends the name of the file with the two notes of a log that contradict each other, beside its checkpoint. */
export const EVIDENCE = '.evidence';

/** Cosigns only checkpoints that extend those it cosigned before (c2sp.org/tlog-witness). */
export interface Witness {
  addCheckpoint(body: string): Promise<WitnessAnswer>;
  /** The last checkpoint cosigned, by the SHA-256 of its log's origin in hex. */
  checkpoint(originHash: string): Promise<string | undefined>;
}

export async function openWitness(parts: {
  readonly name: string;
  /** Each cosigns. */
  readonly keys: readonly NoteSigner[];
  readonly policy: Pick<Policy, 'logs'>;
  readonly folder: string;
  /** Milliseconds since the epoch. */
  now(): number;
}): Promise<Witness> {
  const { name, keys, policy, folder, now } = parts;
  await makeFolder(folder);
  /** Checking and recording one checkpoint ends before the next one is checked. */
  let turn: Promise<unknown> = Promise.resolve();

  const pathOf = (originHash: string) => join(folder, originHash);

  async function cosigned(path: string): Promise<{ note: string; checkpoint: Checkpoint } | undefined> {
    const note = await readIfThere(path);
    return note === undefined ? undefined : { note, checkpoint: parseCheckpoint(parseNote(note).text) };
  }

  /** Keeps the first contradiction: with what a log signs later it could fill the disk. */
  async function keepEvidence(file: string, notes: readonly string[]): Promise<void> {
    const path = `${file}${EVIDENCE}`;
    if ((await readIfThere(path)) === undefined) await replaceFile(path, notes.join('\n'));
  }

  async function judge(body: string): Promise<WitnessAnswer> {
    const submission = parseSubmission(body);
    const note = submission && parsed(submission.note);
    if (submission === undefined || note === undefined) return refuse(400, 'not a submission');
    const { text, signatures, checkpoint } = note;
    const { size, root, origin } = checkpoint;
    const logs = policy.logs.map(({ key }) => key).filter((key) => key.name === origin);
    if (logs.length === 0) return refuse(404, 'this log is not witnessed here');
    const own = logs.flatMap((key) =>
      signatures.filter((one) => isBy(key, one)).map((one) => ({ key, one })),
    );
    // A policy with several types of keys of a log demands all types: one that can be forged is then not enough.
    const isSigned = logs.every(({ type }) => own.some(({ key }) => key.type === type));
    if (!isSigned || !own.every(({ key, one }) => verifyLogSignature(text, one, key))) {
      return refuse(403, 'not signed by the log');
    }
    const { old, path } = submission;
    if (old > size) return refuse(400, 'the old tree is larger');
    const file = pathOf(hashOf(origin));
    const former = await cosigned(file);
    const formerSize = former?.checkpoint.size ?? 0;
    if (old !== formerSize) return { status: 409, body: `${formerSize}\n` };
    if (size === 0 && !isSameHash(root, EMPTY_ROOT)) return refuse(422, 'not the empty tree');
    if (former !== undefined && size === formerSize && !isSameHash(root, former.checkpoint.root)) {
      // tlog-witness: 409. No proof could be wrong here: two roots of one size contradict each other by themselves.
      await keepEvidence(file, [former.note, submission.note]);
      return { status: 409, body: `${formerSize}\n`, isContradiction: true };
    }
    const first = former?.checkpoint ?? { size: 0, root: EMPTY_ROOT };
    if (!verifyConsistency(first, checkpoint, path)) return refuse(422, 'not consistent');
    const time = Math.floor(now() / 1000);
    const made = keys.map((key) => cosign(text, time, name, key));
    await replaceFile(file, renderNote({ text, signatures: [...own.map(({ one }) => one), ...made] }));
    return { status: 200, body: made.map((one) => `${renderSignature(one)}\n`).join('') };
  }

  return {
    addCheckpoint(body) {
      const answer = turn.then(() => judge(body));
      turn = answer.catch(() => undefined);
      return answer;
    },
    async checkpoint(originHash) {
      if (!/^[0-9a-f]{64}$/.test(originHash)) return undefined;
      return (await cosigned(pathOf(originHash)))?.note;
    },
  };
}

function parsed(note: string) {
  try {
    const { text, signatures } = parseNote(note);
    return { text, signatures, checkpoint: parseCheckpoint(text) };
  } catch {
    return undefined;
  }
}

function hashOf(origin: string): string {
  return createHash('sha256').update(origin).digest('hex');
}

function refuse(status: WitnessAnswer['status'], why: string): WitnessAnswer {
  return { status, body: `${why}\n` };
}
