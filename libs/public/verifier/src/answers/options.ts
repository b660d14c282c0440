import { requireNames } from '../options.ts';
import type { ReplayStore } from '../replay/replay-store.ts';

/** Limits of what is kept. */
export interface AnswersOptions {
  /** Largest body that is kept; 262144 by default. A larger answer is only remembered as such. */
  bytesMax?: number | undefined;
  /** Also keeps answers with `Cache-Control: no-store`; false by default. */
  noStore?: boolean | undefined;
}

const BYTES_MAX = 262_144;

/** The options with their defaults; undefined if no answers are kept. Throws TypeError. */
export function requireAnswersOptions({
  answers = false,
  replay,
  acceptV1,
}: {
  answers?: boolean | AnswersOptions | undefined;
  replay: ReplayStore;
  acceptV1?: boolean | undefined;
}): { bytesMax: number; noStore: boolean } | undefined {
  if (answers === false) return undefined;
  const options = answers === true ? {} : answers;
  requireNames(options, ['bytesMax', 'noStore'], 'answers');
  const { bytesMax = BYTES_MAX, noStore = false } = options;
  if (!(Number.isSafeInteger(bytesMax) && bytesMax >= 0)) {
    throw new TypeError('answers: expected a number of bytes for bytesMax');
  }
  if (typeof noStore !== 'boolean') throw new TypeError('answers: expected true or false for noStore');
  if (replay.answers === undefined) throw new TypeError('answers: this replay store cannot keep them');
  if (acceptV1)
    throw new TypeError('answers: a question cannot void a version 1 proof, so acceptV1 must be off');
  return { bytesMax, noStore };
}
