import { type JwkSet, type PublicJwk, renderJwkSet } from '@ori/proof/jwk-set';
import { parseJwkSet, type RefusedKey } from '@ori/proof/read-jwk-set';
import type { VerificationKey } from '@ori/proof/verification-key';
import { KEY_SET_HEADER, KeyError, UnavailableError } from '@ori/proof/wire';
import { createRemoteJson, type RemoteJsonSeed } from '@ori/remote-json';
import { requireNames } from '../options.ts';
import { messageOf, warn } from '../warning.ts';
import type { KeySet } from './key-set.ts';
import { createRootCheck, type RootCheck, type VouchedKeys } from './root-check.ts';

/** Options of `createRemoteKeySet`. */
export interface RemoteKeySetOptions {
  /**
   * The deployment's root, a public Ed25519 JWK, or several while it is replaced: sets that it does not vouch for are refused
   * (ROOTED-KEY-SETS.md). Without it, anyone who can answer for the URL decides whose proofs are accepted.
   *
   * @example root: { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }
   */
  root?: RootJwk | readonly RootJwk[] | undefined;
  /** How long keys are used before they are fetched again; 60 by default. A shorter `max-age` wins. */
  freshSeconds?: number | undefined;
  /** How much longer they are used while the URL cannot be fetched; 600 by default. */
  staleSeconds?: number | undefined;
  /**
   * How often to check for revoked keys while proofs arrive. An unchanged set is answered without a body. Unless `staleSeconds` is set,
   * the keys are then not used at all while the URL fails.
   */
  revocationCheckSeconds?: number | undefined;
  /** Minimum time between two fetches, successful or not; 10 by default. */
  coolDownSeconds?: number | undefined;
  /** Allows http to any host: anyone on the network path can then decide whose proofs are accepted. */
  allowPlainHttp?: boolean | undefined;
  /** Called with each key that is newly left out of the set; warns the operator by default. */
  onRefusedKey?: ((refused: RefusedKey) => void) | undefined;
  /**
   * Keys that an earlier process fetched from this URL, so that the first proof needs no fetch. Used only as long as that process could.
   */
  snapshot?: KeySetSnapshot | undefined;
  /**
   * Called after each fetch, to keep the keys for a later `snapshot`. Without a root, anyone who can change the snapshot decides whose
   * proofs are accepted.
   */
  onSnapshot?: ((snapshot: KeySetSnapshot) => void) | undefined;
  fetch?: typeof globalThis.fetch | undefined;
  /** Milliseconds on a clock that does not step. */
  now?: (() => number) | undefined;
  /** Unix time in milliseconds, with which a rooted set proves that it is recent; `Date.now` by default. */
  unixTime?: (() => number) | undefined;
}

/** A root to pin, as `ori-admin root` prints it. */
export type RootJwk = Pick<PublicJwk, 'kty' | 'crv' | 'x'> & Partial<PublicJwk>;

/** A fetched set, as JSON can keep it. */
export interface KeySetSnapshot {
  readonly jwks: JwkSet;
  /** Unix milliseconds. */
  readonly fetchedAt: number;
  /** How long it is used without another fetch. */
  readonly freshSeconds: number;
  /** With a root: the document and its statement, which are judged again. */
  readonly vouched?: { readonly document: string; readonly statement: string };
}

/** Keys that are fetched and renewed. */
export interface RemoteKeySet extends KeySet {
  /**
   * Fetches the keys now, regardless of the cool-down: at start, to detect a wrong URL early, or after a known
   * rotation.
   * @throws {UnavailableError} `keys_unavailable`. Keys fetched before stay in use.
   */
  reload(): Promise<void>;
  /** The keys in use, to keep for `createLocalKeySet`; undefined when none were fetched or they are no longer fresh. */
  jwks(): JwkSet | undefined;
  /** Aborts a fetch in progress; every later proof is refused with `keys_unavailable`. */
  close(): void;
}

const OPTION_NAMES: readonly (keyof RemoteKeySetOptions)[] = [
  'root',
  'freshSeconds',
  'staleSeconds',
  'revocationCheckSeconds',
  'coolDownSeconds',
  'allowPlainHttp',
  'onRefusedKey',
  'snapshot',
  'onSnapshot',
  'fetch',
  'now',
  'unixTime',
];

/**
 * The keys at `{base}/interns/{internId}/daemon/jwks.json` (KEY-SETS.md): fetched on first use, renewed before
 * they expire, one fetch at a time, without following redirects. A proof that no known key verifies triggers another
 * fetch, at most once per cool-down: new keys are found, and a flood of bad proofs does not reach the URL.
 * @throws {TypeError} for an invalid URL or limit.
 */
export function createRemoteKeySet(url: string | URL, options: RemoteKeySetOptions = {}): RemoteKeySet {
  requireNames(options, OPTION_NAMES, 'createRemoteKeySet');
  const { root, unixTime = Date.now, onRefusedKey = warnOfKey(url), snapshot, onSnapshot } = options;
  const { revocationCheckSeconds } = options;
  if (typeof onRefusedKey !== 'function') throw new TypeError('onRefusedKey: expected a function');
  const check = root === undefined ? undefined : createRootCheck(url, root, unixTime);
  if (check === undefined) warnOnceOfNoRoot(url);
  let reported = new Set<string>();
  let isEmpty = false;

  function read(value: unknown): readonly VerificationKey[] {
    const refused = new Map<string, RefusedKey>();
    const keys = parseJwkSet(value, (key) => void refused.set(`${key.index} ${key.error.code}`, key));
    for (const [name, key] of refused) if (!reported.has(name)) onRefusedKey(key);
    reported = new Set(refused.keys());
    return keys;
  }

  function known(found: KnownKeys): KnownKeys {
    if (found.keys.length === 0 && !isEmpty) {
      warn(
        'key_set_empty',
        `${new URL(url).origin}: the key set contains no usable key; check the intern id in its URL`,
      );
    }
    isEmpty = found.keys.length === 0;
    return found;
  }

  const limits = revocationCheckSeconds === undefined ? LIMITS : checking(revocationCheckSeconds);
  const remote = createRemoteJson<KnownKeys>({
    url,
    freshSeconds: options.freshSeconds ?? limits.freshSeconds,
    staleSeconds: options.staleSeconds ?? limits.staleSeconds,
    coolDownSeconds: options.coolDownSeconds ?? limits.coolDownSeconds,
    timeoutMs: TIMEOUT_MS,
    bytesMax: DOCUMENT_BYTES_MAX,
    pastCaches: check !== undefined || revocationCheckSeconds !== undefined,
    allowPlainHttp: options.allowPlainHttp,
    fetch: options.fetch,
    now: options.now,
    parse: (value, answer) => known(check?.whole(answer) ?? { keys: read(value) }),
    confirm: check && ((headers) => known(check.unchanged(headers))),
    usableMs: ({ usableMs = Number.POSITIVE_INFINITY }) => usableMs,
    seed: snapshot && seedOf(snapshot, (kept) => known(keptBy(kept, check) ?? { keys: read(kept.jwks) })),
    onFetched: ({ keys, vouched }, freshSeconds) => {
      try {
        const kept = { jwks: renderJwkSet(keys), fetchedAt: Date.now(), freshSeconds };
        onSnapshot?.({ ...kept, ...(vouched && { vouched }) });
      } catch (error) {
        warn('key_set_snapshot', messageOf(new Error('onSnapshot threw', { cause: error })));
      }
    },
  });
  // SPEC.md, R12: by both clocks.
  const isOver = ({ until = Number.POSITIVE_INFINITY }: KnownKeys): boolean => until <= unixTime();
  const keysOf = (found: KnownKeys): readonly VerificationKey[] =>
    isOver(found) ? refuse(new Error('the set is too old to be used')) : found.keys;
  const peek = (): KnownKeys | undefined => {
    const held = remote.peek();
    return held !== undefined && isOver(held) ? undefined : held;
  };
  // Of a set that is over by the wall clock alone, `get` does not know.
  const next = () => (remote.peek() === undefined ? remote.get() : remote.refresh());
  return {
    current: () => peek()?.keys ?? next().then(keysOf, refuse),
    renew: () => remote.refresh().then(keysOf, refuse),
    async reload() {
      await remote.reload().catch(refuse);
    },
    jwks() {
      const held = peek();
      return held && renderJwkSet(held.keys);
    },
    close: remote.close,
  };
}

const LIMITS = { freshSeconds: 60, coolDownSeconds: 10, staleSeconds: 600 };
/** For one fetch. */
const TIMEOUT_MS = 2000;
const DOCUMENT_BYTES_MAX = 65_536;

/** A failed fetch is repeated within the interval, so that one lost packet does not cause refusals. */
function checking(seconds: number) {
  if (!(Number.isFinite(seconds) && seconds > 0 && seconds <= 60)) {
    throw new TypeError('revocationCheckSeconds: expected a number above 0, at most 60');
  }
  return { freshSeconds: seconds, coolDownSeconds: seconds / 4, staleSeconds: 0 };
}

type KnownKeys = Pick<VouchedKeys, 'keys'> & Partial<VouchedKeys>;

/** The keys of a snapshot, judged again by the root; undefined without one. @throws KeyError */
function keptBy({ vouched }: KeySetSnapshot, check: RootCheck | undefined): KnownKeys | undefined {
  if (check === undefined) return undefined;
  const headers = new Headers(vouched && { [KEY_SET_HEADER]: vouched.statement });
  return check.whole({ bytes: new TextEncoder().encode(vouched?.document), headers });
}

/** Undefined, with a warning, for a snapshot that cannot be used: the keys are then fetched as usual. */
function seedOf(
  snapshot: KeySetSnapshot,
  read: (snapshot: KeySetSnapshot) => KnownKeys,
): RemoteJsonSeed<KnownKeys> | undefined {
  const { fetchedAt, freshSeconds } = snapshot;
  const ageSeconds = (Date.now() - fetchedAt) / 1000;
  if (!(ageSeconds >= 0 && freshSeconds >= 0)) {
    warn('key_set_snapshot', 'the snapshot of the key set has no time, or one in the future');
    return undefined;
  }
  try {
    return { document: read(snapshot), ageSeconds, freshSeconds };
  } catch (error) {
    warn('key_set_snapshot', messageOf(error));
    return undefined;
  }
}

function refuse(cause: unknown): never {
  const why =
    cause instanceof Error && cause.cause instanceof KeyError ? cause.cause.message : 'check their URL';
  throw new UnavailableError('keys_unavailable', `the published keys could not be fetched: ${why}`, {
    cause,
  });
}

function warnOfKey(url: string | URL): (refused: RefusedKey) => void {
  return ({ index, error }) =>
    warn(error.code, `${new URL(url).origin}: key ${index} of the key set is left out: ${error.message}`);
}

let isToldOfNoRoot = false;

function warnOnceOfNoRoot(url: string | URL): void {
  if (isToldOfNoRoot) return;
  isToldOfNoRoot = true;
  warn(
    'key_set_unrooted',
    `${new URL(url).origin}: no root is pinned, so anyone who can answer for this URL decides whose proofs are accepted; pin the deployment's public root, which its operator has: "A root" in the README of @ori/verifier`,
  );
}
