import { parseJwkSet } from '@ori/proof/read-jwk-set';
import { createRootedSetReader } from '@ori/proof/rooted-set';
import type { VerificationKey } from '@ori/proof/verification-key';
import { KEY_SET_HEADER } from '@ori/proof/wire';
import type { Answer } from '@ori/remote-json';

const KEY_SET_PATH = /^(.+)\/interns\/([A-Za-z0-9][A-Za-z0-9_-]{0,127})\/daemon\/jwks\.json$/;

export interface VouchedKeys {
  readonly keys: readonly VerificationKey[];
  /** How long they may be used, in milliseconds. */
  readonly usableMs: number;
  /** Unix milliseconds: until when. A clock that does not step may stand while the machine sleeps. */
  readonly until: number;
  /** The document and statement that vouch for them, to be verified again by another process. */
  readonly vouched: { readonly document: string; readonly statement: string };
}

/** Accepts an answer only if a pinned root vouches for it. Both methods throw KeyError. */
export interface RootCheck {
  whole(answer: Answer): VouchedKeys;
  /** A 304: it has to prove its time too. */
  unchanged(headers: Headers): VouchedKeys;
}

/** @throws {TypeError} for roots that are not Ed25519 keys, and for a URL that does not name base address and intern */
export function createRootCheck(url: string | URL, root: unknown, unixTime: () => number): RootCheck {
  const { origin, pathname, search, hash } = new URL(url);
  const [, base, internId] = KEY_SET_PATH.exec(`${origin}${pathname}${search}${hash}`) ?? [];
  if (base === undefined || internId === undefined) {
    throw new TypeError('url: with a root, expected {base}/interns/{internId}/daemon/jwks.json');
  }
  const read = createRootedSetReader({ roots: readRoots(root), baseUrl: base, internId });
  let document = '';
  const judge = (body: Uint8Array | undefined, headers: Headers): VouchedKeys => {
    const now = unixTime();
    const statement = headers.get(KEY_SET_HEADER);
    const { keys, until } = read({ body, statement, now });
    if (body !== undefined) document = new TextDecoder().decode(body);
    return { keys, until, usableMs: until - now, vouched: { document, statement: statement ?? '' } };
  };
  return {
    whole: ({ bytes, headers }) => judge(bytes, headers),
    unchanged: (headers) => judge(undefined, headers),
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
