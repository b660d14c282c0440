import { createLogKeys } from '@ori/tlog/log-keys';
import { renderNote } from '@ori/tlog/note';
import type { LogConfig } from './config.ts';
import { openLogFolder } from './disk/log-folder.ts';
import { LogError } from './log-error.ts';
import { signHead } from './publisher.ts';
import { createWitnesses, witnessesToAsk } from './witnesses.ts';

const WITNESS_TIMEOUT_MS = 10_000;

/**
 * Creates a new guard for a tree whose guard was lost. The tree must contain its published checkpoint, and every witness
 * with an address must cosign it: a witness that has seen a larger tree proves that this is an older copy.
 *
 * @returns what was adopted and checked, for the operator
 * @throws LogError `guard_present`, `tree_rolled_back`, `witness_is_ahead`, `witness_silent`, or as `openLogFolder`
 */
export async function adoptTree(config: LogConfig): Promise<string> {
  const { origin, folder, guardFolder, policy } = config;
  const keys = createLogKeys(origin, config.key.reveal());
  const checked: string[] = [];
  const opened = await openLogFolder({
    folder,
    guardFolder,
    async adopt({ head, published, subtrees }) {
      if (published !== undefined) checked.push(`the published checkpoint of ${published.size} leaves`);
      const signed = signHead(keys, head);
      const witnesses = createWitnesses(policy, {
        timeoutMs: WITNESS_TIMEOUT_MS,
        onFailure(witness, cause) {
          throw new LogError('witness_silent', `the witness ${witness} did not cosign: nothing was adopted`, {
            cause,
          });
        },
      });
      await witnesses.cosign({ head, text: signed.text, note: renderNote(signed), subtrees });
      checked.push(...witnessesToAsk(policy).map(([name]) => `the witness ${name}`));
    },
  });
  const { size } = opened.tree;
  await opened.close();
  const against =
    checked.length === 0
      ? 'nothing: no checkpoint was published, and no witness is configured'
      : checked.join(', ');
  return `adopted the tree of ${size} leaves; checked against ${against}`;
}
