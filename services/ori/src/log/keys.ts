import { thumbprint } from '@ori/proof';
import { readKeyLeaves } from '@ori/tlog/key-watch';
import { CliError } from '../core/errors.ts';
import { takeInternId } from '../session/intern-id.ts';
import type { Profile } from '../session/profile.ts';
import { openLog, type PolicyOptions, readPolicy, trusted } from './policy.ts';
import { keysOf } from './request.ts';

/**
 * Lists the keys of an intern that the signing log has, by reading all of it, and whether they are published now. Throws
 * CliError `key_not_logged` for a published key without a leaf, and as `logVerify` for a policy or a log.
 */
export async function logKeys(profile: Profile, intern: string, options: PolicyOptions): Promise<void> {
  const policy = await readPolicy(options);
  const internId = await takeInternId(profile, intern);
  const current = new Set((await keysOf(profile, internId))?.map(({ kid }) => kid));
  const { client, head, address } = await openLog(profile, policy);
  const leaves = new Map<string, number>();
  await trusted(async () => {
    for await (const { index, publicKey } of readKeyLeaves(client, head, internId)) {
      const kid = thumbprint(publicKey);
      if (!leaves.has(kid)) leaves.set(kid, index);
    }
  }, address);
  const keys = [...leaves].map(([key, leaf]) => ({ leaf, key, published: current.has(key) }));
  if (profile.json) profile.terminal.printJson({ origin: head.origin, size: head.size, keys });
  else if (keys.length === 0) profile.terminal.note(`No keys of ${internId} in ${head.size} leaves.`);
  else {
    profile.terminal.printTable(
      keys.map(({ leaf, key, published }) => ({
        leaf: String(leaf),
        key,
        published: published ? 'yes' : 'no',
      })),
    );
  }
  const missing = [...current].filter((kid) => !leaves.has(kid));
  if (missing.length > 0)
    throw new CliError('key_not_logged', { origin: head.origin, keys: missing.join(', ') });
}
