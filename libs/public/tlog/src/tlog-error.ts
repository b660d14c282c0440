import { OriError } from '@ori/proof/errors';

export type TlogErrorCode =
  /** Text or bytes that are not in their format. */
  | 'malformed'
  /** No signature by the log, or a bad one by a known key. */
  | 'signature_invalid'
  /** Too few witnesses have cosigned. */
  | 'quorum_missing'
  /** The inclusion proof does not lead to the root. */
  | 'inclusion_invalid'
  /** Two signed trees of which neither extends the other: the log has shown two histories. */
  | 'inconsistent'
  /** The log serves a smaller tree than one it has signed before. */
  | 'rolled_back'
  /** The log did not answer, or not in time. */
  | 'unavailable';

/** A transparency log, or what was presented as part of one, cannot be relied on. */
export class TlogError extends OriError<TlogErrorCode> {
  override readonly name = 'TlogError';
}
