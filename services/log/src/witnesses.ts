import { parseSize } from '@ori/tlog/checkpoint';
import { verifyCosignature } from '@ori/tlog/cosignature';
import type { TreeHead } from '@ori/tlog/merkle';
import { consistencyProof, type Subtrees } from '@ori/tlog/merkle';
import { isBy, type NoteSignature, parseSignature } from '@ori/tlog/note';
import type { Policy, PolicyWitness } from '@ori/tlog/policy';
import { LogError } from './log-error.ts';

/** A checkpoint to be cosigned. */
export interface Submission {
  readonly head: TreeHead;
  readonly text: string;
  /** The whole note, with the log's signature. */
  readonly note: string;
  /** Computes consistency proofs of the tree. */
  subtrees(): Subtrees;
}

export interface Witnesses {
  /**
   * Asks all witnesses concurrently. Those that fail or are late are missing from the result.
   *
   * @returns cosignatures by the witnesses' names
   * @throws LogError `witness_is_ahead`: this log is an older copy and must not sign
   */
  cosign(submission: Submission): Promise<ReadonlyMap<string, NoteSignature>>;
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
): Witnesses {
  const asked = witnessesToAsk(policy);
  /** The last size that each witness is known to have cosigned. */
  const sizes = new Map<string, number>();

  async function post(
    { url = '' }: PolicyWitness,
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
    const text = await response.text();
    if (text.length > ANSWER_BYTES_MAX) throw new Error('the answer is too large');
    return { status: response.status, text };
  }

  async function ask(name: string, witness: PolicyWitness, submission: Submission): Promise<NoteSignature> {
    const { head, text } = submission;
    let answer = await post(witness, Math.min(sizes.get(name) ?? 0, head.size), submission);
    if (answer.status === 409) {
      const size = parseSize(answer.text.trim());
      if (size === undefined) throw new Error('409 without a size');
      if (size > head.size) {
        throw new LogError(
          'witness_is_ahead',
          `${name} has cosigned ${size} leaves, and this tree has ${head.size}`,
        );
      }
      answer = await post(witness, size, submission);
    }
    if (answer.status !== 200) throw new Error(`the witness answered ${answer.status}`);
    for (const line of answer.text.trimEnd().split('\n')) {
      const signature = parseSignature(line);
      if (!isBy(witness.key, signature)) continue;
      if (verifyCosignature(text, signature, witness.key) === undefined) break;
      sizes.set(name, head.size);
      return signature;
    }
    throw new Error('the answer contains no valid cosignature of the witness');
  }

  return {
    async cosign(submission) {
      const answers = asked.map(async ([name, witness]): Promise<[string, NoteSignature] | undefined> => {
        try {
          return [name, await ask(name, witness, submission)];
        } catch (error) {
          if (error instanceof LogError) throw error;
          onFailure(name, error);
          return undefined;
        }
      });
      return new Map((await Promise.all(answers)).filter((answer) => answer !== undefined));
    },
  };
}
