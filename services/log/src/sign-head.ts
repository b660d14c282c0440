import { renderCheckpoint } from '@ori/tlog/checkpoint';
import { cosign } from '@ori/tlog/cosignature';
import type { LogKeys } from '@ori/tlog/log-keys';
import type { TreeHead } from '@ori/tlog/merkle';
import { type NoteSignature, signNote } from '@ori/tlog/note';

/** The log's own signatures of a checkpoint: Ed25519 and ML-DSA-44. */
export function signHead(keys: LogKeys, head: TreeHead): { text: string; signatures: NoteSignature[] } {
  const origin = keys.logKey.name;
  const text = renderCheckpoint({ origin, ...head });
  return { text, signatures: [signNote(text, origin, keys.log), cosign(text, 0, origin, keys.logMlDsa)] };
}
