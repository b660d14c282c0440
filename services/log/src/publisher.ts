import { join } from 'node:path';
import { renderCheckpoint } from '@ori/tlog/checkpoint';
import { cosign } from '@ori/tlog/cosignature';
import type { LogKeys } from '@ori/tlog/log-keys';
import { isSameHash, type TreeHead } from '@ori/tlog/merkle';
import { type NoteSignature, renderNote, signNote } from '@ori/tlog/note';
import type { Policy } from '@ori/tlog/policy';
import type { MadeTile } from '@ori/tlog/tree';
import { replaceFile } from './disk/durable-file.ts';
import { type LogFolder, publicFolder } from './disk/log-folder.ts';
import { LogError } from './log-error.ts';
import { type Witnesses, witnessesToAsk } from './witnesses.ts';

/** A tree to be published. */
interface Draft {
  readonly size: number;
  readonly root: Uint8Array;
  readonly partial: readonly MadeTile[];
  /** Unix seconds: the tree has every audit line that existed at this time. */
  readonly completeAt: number | undefined;
}

export interface Published {
  readonly note: string;
  readonly size: number;
}

export function createPublisher(
  { tiles, guard }: Pick<LogFolder, 'tiles' | 'guard'>,
  parts: {
    readonly folder: string;
    readonly keys: LogKeys;
    readonly policy: Policy | undefined;
    readonly witnesses: Witnesses;
  },
) {
  const { folder, keys, policy, witnesses } = parts;
  let cosigned: { readonly text: string; readonly by: Map<string, NoteSignature> } | undefined;

  /** Cosignatures of exactly this checkpoint; missing ones are requested. */
  async function witnessed(head: TreeHead): Promise<ReadonlyMap<string, NoteSignature>> {
    const { text, signatures } = signHead(keys, head);
    const known = cosigned?.text === text ? cosigned.by : new Map<string, NoteSignature>();
    cosigned = { text, by: known };
    if (witnessesToAsk(policy).every(([name]) => known.has(name))) return known;
    const note = renderNote({ text, signatures });
    const answers = await witnesses.cosign({ head, text, note, subtrees: () => tiles.subtrees(head.size) });
    for (const [name, one] of answers) known.set(name, one);
    return known;
  }

  return {
    /**
     * Publishes the checkpoint of a tree in this order: tiles on disk, guard on disk, signature, cosignatures, checkpoint.
     *
     * @returns undefined while too few witnesses have cosigned
     */
    async publish({ size, root, partial, completeAt }: Draft): Promise<Published | undefined> {
      await tiles.write(partial);
      const { head } = guard;
      if (head === undefined || head.size < size) await guard.save({ size, root });
      else if (head.size > size || !isSameHash(head.root, root)) {
        throw new LogError('tree_rolled_back', `another tree of ${head.size} leaves was signed`);
      }
      const by = await witnessed({ size, root });
      if (policy !== undefined && !policy.isQuorum(new Set(by.keys()))) return undefined;
      const { text, signatures } = signHead(keys, { size, root });
      const complete =
        completeAt === undefined
          ? []
          : keys.complete.map((signer) => cosign(text, completeAt, keys.completeKey.name, signer));
      const note = renderNote({ text, signatures: [...signatures, ...by.values(), ...complete] });
      await replaceFile(join(publicFolder(folder), 'checkpoint'), note);
      return { note, size };
    },
    /** Submits the last signed tree to the witnesses again, before anything is added to it. @throws LogError `witness_is_ahead` */
    async confirm(): Promise<void> {
      if (guard.head !== undefined) await witnessed(guard.head);
    },
  };
}

export type Publisher = ReturnType<typeof createPublisher>;

/** The log's own signatures of a checkpoint: Ed25519 and ML-DSA-44. */
export function signHead(keys: LogKeys, head: TreeHead): { text: string; signatures: NoteSignature[] } {
  const origin = keys.logKey.name;
  const text = renderCheckpoint({ origin, ...head });
  return { text, signatures: [signNote(text, origin, keys.log), cosign(text, 0, origin, keys.logMlDsa)] };
}
