import { parseSize } from '@ori/tlog/checkpoint';
import { readBounded } from '@ori/tlog/client';
import { verifyCosignature } from '@ori/tlog/cosignature';
import type { TreeHead } from '@ori/tlog/merkle';
import { consistencyProof, type Subtrees } from '@ori/tlog/merkle';
import { isBy, type NoteSignature, parseSignature } from '@ori/tlog/note';
import type { Policy, PolicyWitness } from '@ori/tlog/policy';
import { LogError } from './log-error.ts';

/** A checkpoint to be cosigned. */
interface Submission {
  readonly head: TreeHead;
  readonly text: string;
  /** The whole note, with the log's signature. */
  readonly note: string;
  /** Computes consistency proofs of the tree. */
  subtrees(): Subtrees;
}

/** The witnesses of a policy that have an address, by name. */
export function witnessesToAsk(policy: Policy | undefined): (readonly [string, PolicyWitness])[] {
  return [...(policy?.witnesses ?? [])].filter(([, { url }]) => url !== undefined);
}

const ANSWER_BYTES_MAX = 64 * 1024;

/** The witnesses of a policy that have an address (c2sp.org/tlog-witness). */
export function createWitnesses(
  policy: Policy | undefined,
  { timeoutMs, onFailure }: { timeoutMs: number; onFailure(witness: string, error: unknown): void },
) {
  /** The last size that each address is known to have cosigned. */
  const sizes = new Map<string, number>();

  async function post(
    url: string,
    old: number,
    { head, note, subtrees }: Submission,
  ): Promise<{ status: number; text: string }> {
    const path = consistencyProof(old, head.size, subtrees());
    const lines = path.map((hash) => `${Buffer.from(hash).toString('base64')}\n`).join('');
    const response = await fetch(`${url.replace(/\/$/, '')}/add-checkpoint`, {
      method: 'POST',
      body: `old ${old}\n${lines}\n${note}`,
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const answer = await readBounded(response, ANSWER_BYTES_MAX);
    return { status: response.status, text: Buffer.from(answer).toString() };
  }

  async function ask({ key, url = '' }: PolicyWitness, submission: Submission): Promise<NoteSignature> {
    const { head, text } = submission;
    let answer = await post(url, Math.min(sizes.get(url) ?? 0, head.size), submission);
    if (answer.status === 409) {
      const size = parseSize(answer.text.trim());
      if (size === undefined) throw new Error('409 without a size');
      if (size > head.size) {
        throw new LogError(
          'witness_is_ahead',
          `${url} has cosigned ${size} leaves, and this tree has ${head.size}`,
        );
      }
      answer = await post(url, size, submission);
    }
    if (answer.status !== 200) throw new Error(`the witness answered ${answer.status}`);
    sizes.set(url, head.size);
    const signatures = answer.text.trimEnd().split('\n').map(parseSignature);
    const signature = signatures.find((one) => isBy(key, one));
    // 0 says nothing about the latest tree, and clients do not count it.
    if (signature === undefined || !verifyCosignature(text, signature, key)) {
      throw new Error('the answer contains no valid cosignature of the witness');
    }
    return signature;
  }

  return {
    /**
     * Requests cosignatures of all witnesses concurrently. Witnesses that fail or are late are missing from the result.
     *
     * @returns cosignatures by the witnesses' names
     * @throws LogError `witness_is_ahead`: this log is an older copy and must not sign
     */
    async cosign(submission: Submission): Promise<ReadonlyMap<string, NoteSignature>> {
      const cosigned = new Map<string, NoteSignature>();
      const turns = witnessesToAsk(policy).map(async ([name, witness]) => {
        try {
          cosigned.set(name, await ask(witness, submission));
        } catch (error) {
          if (error instanceof LogError) throw error;
          onFailure(name, error);
        }
      });
      await Promise.all(turns);
      return cosigned;
    },
  };
}

export type Witnesses = ReturnType<typeof createWitnesses>;
