import type { PublicJwk } from '@ori/proof/jwk-set';
import { parseJwkSet } from '@ori/proof/read-jwk-set';
import { createRootedSetReader } from '@ori/proof/rooted-set';
import type { VerificationKey } from '@ori/proof/verification-key';
import { KEY_SET_HEADER } from '@ori/proof/wire';
import { requireNames } from '../options.ts';
import {
  createFetchedKeySet,
  type JudgedKeys,
  type KeySetJudge,
  OPTION_NAMES,
  type RemoteKeySet,
  type RemoteKeySetOptions,
} from './fetched.ts';

/** A root to pin, as `ori-admin root generate` prints it. */
export type RootJwk = Pick<PublicJwk, 'kty' | 'crv' | 'x'> & Partial<PublicJwk>;

/** Options of `createRootedKeySet`: a set with a bad key is refused as a whole. */
export interface RootedKeySetOptions extends Omit<RemoteKeySetOptions, 'onRefusedKey'> {
  /**
   * The deployment's root, a public Ed25519 JWK, or several while it is replaced.
   *
   * @example root: { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }
   */
  root: RootJwk | readonly RootJwk[];
  /** Unix time in milliseconds, with which a set proves that it is recent; `Date.now` by default. */
  unixTime?: (() => number) | undefined;
}

const NAMES = [...OPTION_NAMES.filter((name) => name !== 'onRefusedKey'), 'root', 'unixTime'];

/**
 * The keys at `{base}/interns/{internId}/daemon/jwks.json`, used only if a pinned root vouches for them (ROOTED-KEY-SETS.md). `base` has
 * to be the deployment's own base address.
 * @throws {TypeError} for roots that are not Ed25519 keys, and for an invalid URL or limit.
 */
export function createRootedKeySet(url: string | URL, options: RootedKeySetOptions): RemoteKeySet {
  requireNames(options, NAMES, 'createRootedKeySet');
  const { root, unixTime = Date.now, ...others } = options;
  return createFetchedKeySet(url, others, createRootJudge(url, root, unixTime), unixTime);
}

const KEY_SET_PATH = /^(.+)\/interns\/([A-Za-z0-9][A-Za-z0-9_-]{0,127})\/daemon\/jwks\.json$/;

function createRootJudge(url: string | URL, root: unknown, unixTime: () => number): KeySetJudge {
  const { origin, pathname, search, hash } = new URL(url);
  const [, base, internId] = KEY_SET_PATH.exec(`${origin}${pathname}${search}${hash}`) ?? [];
  if (base === undefined || internId === undefined) {
    throw new TypeError('url: with a root, expected {base}/interns/{internId}/daemon/jwks.json');
  }
  const read = createRootedSetReader({ roots: readRoots(root), baseUrl: base, internId });
  const judge = (body: Uint8Array, headers: Headers): JudgedKeys => {
    const now = unixTime();
    const statement = headers.get(KEY_SET_HEADER);
    const { keys, until } = read({ body, statement, now });
    const vouched = { document: new TextDecoder().decode(body), statement: statement ?? '' };
    return { keys, until, usableMs: until - now, vouched };
  };
  return {
    fetched: (_value, { bytes, headers }) => judge(bytes, headers),
    kept({ vouched }) {
      const headers = new Headers(vouched && { [KEY_SET_HEADER]: vouched.statement });
      return judge(new TextEncoder().encode(vouched?.document), headers);
    },
  };
}

const ROOTS_MAX = 4;

function readRoots(root: unknown): readonly VerificationKey[] {
  const given: unknown[] = Array.isArray(root) ? root : [root];
  try {
    const roots = parseJwkSet({ keys: given }, ({ error }) => {
      throw error;
    });
    if (roots.length === given.length && roots.length > 0 && roots.length <= ROOTS_MAX) return roots;
  } catch (cause) {
    throw new TypeError('root: a key cannot be admitted', { cause });
  }
  throw new TypeError(`root: expected a public Ed25519 JWK, or a list of 1 to ${ROOTS_MAX}`);
}
