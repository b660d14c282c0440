import type { Logger } from '@ori/runtime/log';
import { createRemoteKeySet } from '@ori/verifier';
import { createRootedKeySet, type RootJwk } from '@ori/verifier/rooted';

export type Root = RootJwk | RootJwk[] | undefined;

/** The intern's key set. @throws TypeError for an address or a root that cannot be used */
export function openKeys(url: string, root: Root, log?: Logger) {
  if (root !== undefined) return createRootedKeySet(url, { root });
  return createRemoteKeySet(url, {
    onRefusedKey: ({ error }) => log?.warn({ err: error }, 'a key of the set was ignored'),
  });
}
