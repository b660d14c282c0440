import { type JwkSet, renderJwkSet } from '@ori/proof/jwk-set';
import type { RefusedKey } from '@ori/proof/read-jwk-set';
import type { VerificationKey } from '@ori/proof/verification-key';
import { KeyError, UnavailableError } from '@ori/proof/wire';
import { type Answer, createRemoteJson, type RemoteJsonSeed } from '@ori/remote-json';
import { messageOf, warn } from '../warning.ts';
import type { KeySet } from './key-set.ts';

/** Options of `createRemoteKeySet`. */
export interface RemoteKeySetOptions {
  /** How long keys are used before they are fetched again; 60 by default. A shorter `max-age` wins. */
  freshSeconds?: number | undefined;
  /** How much longer they are used while the URL cannot be fetched; 600 by default. */
  staleSeconds?: number | undefined;
  /**
   * How often to check for revoked keys while proofs arrive. Unless `staleSeconds` is set, the keys are then used no longer than
   * this while the URL fails.
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
   * Called after each successful fetch, to keep the keys for a later `snapshot`. Without a root, anyone who can change the snapshot decides whose
   * proofs are accepted.
   */
  onSnapshot?: ((snapshot: KeySetSnapshot) => void) | undefined;
  fetch?: typeof globalThis.fetch | undefined;
  /** Milliseconds on a clock that does not step. */
  now?: (() => number) | undefined;
}

/** A fetched set, as JSON can keep it. */
export interface KeySetSnapshot {
  readonly jwks: JwkSet;
  /** Unix milliseconds. */
  readonly fetchedAt: number;
  /** How long it is used without another fetch. */
  readonly freshSeconds: number;
  /** Of a rooted set: the document and its statement, which are judged again. */
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

export const OPTION_NAMES: readonly (keyof RemoteKeySetOptions)[] = [
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
];

/** The keys of an answer or a snapshot. */
export interface JudgedKeys {
  readonly keys: readonly VerificationKey[];
  /** How long they may be used, in milliseconds; absent if only the options limit it. */
  readonly usableMs?: number;
  /** Unix milliseconds: until when. A clock that does not step may stand while the machine sleeps. */
  readonly until?: number;
  /** What vouches for them, to be verified again by another process. */
  readonly vouched?: NonNullable<KeySetSnapshot['vouched']>;
}

/** Decides which answers of the URL are used. Each method throws KeyError. */
export interface KeySetJudge {
  fetched(value: unknown, answer: Answer): JudgedKeys;
  kept(snapshot: KeySetSnapshot): JudgedKeys;
}

/**
 * The keys at a URL as `judge` accepts them: fetched on first use, renewed before they expire, one fetch at a time, without following
 * redirects. A proof that no known key verifies triggers another fetch, at most once per cool-down: new keys are found, and a flood of
 * bad proofs does not reach the URL.
 * @throws {TypeError} for an invalid URL or limit.
 */
export function createFetchedKeySet(
  url: string | URL,
  options: RemoteKeySetOptions,
  judge: KeySetJudge,
  unixTime: () => number = Date.now,
): RemoteKeySet {
  const { revocationCheckSeconds, snapshot, onSnapshot } = options;
  let isEmpty = false;

  function known(found: JudgedKeys): JudgedKeys {
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
  const remote = createRemoteJson<JudgedKeys>({
    url,
    freshSeconds: options.freshSeconds ?? limits.freshSeconds,
    staleSeconds: options.staleSeconds ?? limits.staleSeconds,
    coolDownSeconds: options.coolDownSeconds ?? limits.coolDownSeconds,
    timeoutMs: TIMEOUT_MS,
    bytesMax: DOCUMENT_BYTES_MAX,
    allowPlainHttp: options.allowPlainHttp,
    fetch: options.fetch,
    now: options.now,
    parse: (value, answer) => known(judge.fetched(value, answer)),
    usableMs: ({ usableMs = Number.POSITIVE_INFINITY }) => usableMs,
    seed: snapshot && seedOf(snapshot, (kept) => known(judge.kept(kept))),
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
  const isOver = ({ until = Number.POSITIVE_INFINITY }: JudgedKeys): boolean => until <= unixTime();
  const keysOf = (found: JudgedKeys): readonly VerificationKey[] =>
    isOver(found) ? refuse(new Error('the set is too old to be used')) : found.keys;
  const peek = (): JudgedKeys | undefined => {
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

/** Undefined, with a warning, for a snapshot that cannot be used: the keys are then fetched as usual. */
function seedOf(
  snapshot: KeySetSnapshot,
  read: (snapshot: KeySetSnapshot) => JudgedKeys,
): RemoteJsonSeed<JudgedKeys> | undefined {
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
