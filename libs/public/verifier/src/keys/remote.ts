import { parseJwkSet, type RefusedKey } from '@ori/proof/read-jwk-set';
import { requireNames } from '../options.ts';
import { warn } from '../warning.ts';
import { createFetchedKeySet, OPTION_NAMES, type RemoteKeySet, type RemoteKeySetOptions } from './fetched.ts';

/**
 * The keys at `{base}/interns/{internId}/daemon/jwks.json` (KEY-SETS.md). Anyone who can answer for the URL decides whose proofs are
 * accepted, unless a root is pinned: `createRootedKeySet` of '@ori/verifier/rooted'.
 * @throws {TypeError} for an invalid URL or limit.
 */
export function createRemoteKeySet(url: string | URL, options: RemoteKeySetOptions = {}): RemoteKeySet {
  requireNames(options, OPTION_NAMES, 'createRemoteKeySet');
  const { onRefusedKey = warnOfKey(url) } = options;
  if (typeof onRefusedKey !== 'function') throw new TypeError('onRefusedKey: expected a function');
  warnOnceOfNoRoot(url);
  let reported = new Set<string>();

  function read(value: unknown) {
    const refused = new Map<string, RefusedKey>();
    const keys = parseJwkSet(value, (key) => void refused.set(`${key.index} ${key.error.code}`, key));
    for (const [name, key] of refused) if (!reported.has(name)) onRefusedKey(key);
    reported = new Set(refused.keys());
    return { keys };
  }

  return createFetchedKeySet(url, options, { fetched: read, kept: ({ jwks }) => read(jwks) });
}

function warnOfKey(url: string | URL): (refused: RefusedKey) => void {
  return ({ index, error }) =>
    warn(error.code, `${new URL(url).origin}: key ${index} of the key set is left out: ${error.message}`);
}

let hasWarnedOfNoRoot = false;

function warnOnceOfNoRoot(url: string | URL): void {
  if (hasWarnedOfNoRoot) return;
  hasWarnedOfNoRoot = true;
  warn(
    'key_set_unrooted',
    `${new URL(url).origin}: no root is pinned, so anyone who can answer for this URL decides whose proofs are accepted; pin the deployment's public root, which its operator has: "A root" in the README of @ori/verifier`,
  );
}
