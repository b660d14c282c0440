import {
  type JwkSet,
  parseJwkSet,
  type RefusedKey,
  renderJwkSet,
  UnavailableError,
  type VerificationKey,
} from '@ori/proof';
import { createRemoteJson } from '@ori/remote-json';
import { requireNames } from '../options.ts';
import { warn } from '../warning.ts';
import type { KeySet } from './local.ts';

/** Options of `createRemoteKeySet`. */
export interface RemoteKeySetOptions {
  /** How long keys are used before they are fetched again; 60 by default. A shorter `max-age` wins. */
  freshSeconds?: number;
  /** How much longer they are used while the URL fails; 600 by default. */
  staleSeconds?: number;
  /**
   * How often to check for revoked keys while proofs arrive. An unchanged set is answered without a body. Unless `staleSeconds` is set,
   * the keys are then not used at all while the URL fails.
   */
  revocationCheckSeconds?: number;
  /** Minimum time between two fetches, successful or not; 10 by default. */
  coolDownSeconds?: number;
  /** Limit for one fetch; 2000 by default. */
  timeoutMs?: number;
  /** Maximum size of the document; 65536 by default. */
  bytesMax?: number;
  /** Allows http to any host: anyone on the network path can then decide whose proofs are accepted. */
  allowPlainHttp?: boolean;
  /** Called with each key that is newly left out of the set; warns the operator by default. */
  onRefusedKey?: (refused: RefusedKey) => void;
  fetch?: typeof globalThis.fetch;
  /** Milliseconds on a clock that does not step. */
  now?: () => number;
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
  'freshSeconds',
  'staleSeconds',
  'revocationCheckSeconds',
  'coolDownSeconds',
  'timeoutMs',
  'bytesMax',
  'allowPlainHttp',
  'onRefusedKey',
  'fetch',
  'now',
];

/**
 * The keys at `{base}/interns/{internId}/daemon/jwks.json` (SPEC.md, section 4): fetched on first use, renewed before
 * they expire, one fetch at a time, without following redirects. A proof that no known key verifies triggers another
 * fetch, at most once per cool-down: new keys are found, and a flood of bad proofs does not reach the URL.
 * @throws {TypeError} for an invalid URL or limit.
 */
export function createRemoteKeySet(url: string | URL, options: RemoteKeySetOptions = {}): RemoteKeySet {
  requireNames(options, OPTION_NAMES, 'createRemoteKeySet');
  const { onRefusedKey = warnOfKey(url), revocationCheckSeconds, ...limits } = options;
  if (typeof onRefusedKey !== 'function') throw new TypeError('onRefusedKey: expected a function');
  let told = new Set<string>();
  let isEmpty = false;

  function read(value: unknown): readonly VerificationKey[] {
    const refused = new Map<string, RefusedKey>();
    const keys = parseJwkSet(value, (key) => void refused.set(`${key.index} ${key.error.code}`, key));
    for (const [name, key] of refused) if (!told.has(name)) onRefusedKey(key);
    told = new Set(refused.keys());
    if (keys.length === 0 && !isEmpty) {
      warn(
        'key_set_empty',
        `${new URL(url).origin}: the key set contains no usable key; check the intern id in its URL`,
      );
    }
    isEmpty = keys.length === 0;
    return keys;
  }

  const remote = createRemoteJson<readonly VerificationKey[]>({
    freshSeconds: 60,
    staleSeconds: 600,
    coolDownSeconds: 10,
    timeoutMs: 2000,
    bytesMax: 65_536,
    ...(revocationCheckSeconds === undefined ? {} : checking(revocationCheckSeconds)),
    ...limits,
    url,
    parse: read,
  });
  return {
    current: () => remote.peek() ?? remote.get().catch(refuse),
    renew: () => remote.refresh().catch(refuse),
    async reload() {
      await remote.reload().catch(refuse);
    },
    jwks() {
      const keys = remote.peek();
      return keys && renderJwkSet(keys);
    },
    close: remote.close,
  };
}

/** A failed fetch is repeated within the interval, so that one lost packet does not cause refusals. */
function checking(seconds: number) {
  if (!(Number.isFinite(seconds) && seconds > 0 && seconds <= 60)) {
    throw new TypeError('revocationCheckSeconds: expected a number above 0, at most 60');
  }
  return { freshSeconds: seconds, coolDownSeconds: seconds / 4, staleSeconds: 0, pastCaches: true };
}

function refuse(cause: unknown): never {
  throw new UnavailableError('keys_unavailable', 'the published keys could not be fetched: check their URL', {
    cause,
  });
}

function warnOfKey(url: string | URL): (refused: RefusedKey) => void {
  return ({ index, error }) =>
    warn(error.code, `${new URL(url).origin}: key ${index} of the key set is left out: ${error.message}`);
}
