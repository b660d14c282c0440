import { isInternId } from '@ori/proof/wire';
import type { KeepAnswers } from './kept-answers.ts';
import type { KeySet } from './keys/key-set.ts';
import { requireNames } from './options.ts';
import type { ProofReport } from './outcome.ts';
import type { ReplayStore } from './replay/replay-store.ts';
import { TOLERANCE_SECONDS_MAX } from './replay/times.ts';
import type { VerifiedProof } from './verified-proof.ts';

/** Options of `createVerifier`. */
export interface VerifierOptions {
  /** The id of this daemon's intern. A proof for any other intern does not verify. */
  internId: string;
  /**
   * The intern's published keys: `createLocalKeySet` or `createRemoteKeySet`.
   *
   * @example keys: createRemoteKeySet('https://ori.example/v1/interns/int_7Qm2/daemon/jwks.json')
   */
  keys: KeySet;
  /** Where spent proofs are remembered: `memoryReplayStore`, `redisReplayStore` or `postgresReplayStore`. */
  replay: ReplayStore;
  /** Oldest proof accepted, 1 to 600 s; 60 by default. */
  maxAgeSeconds?: number | undefined;
  /** How far a proof may be ahead of this clock, 0 to 60 s; 2 by default. It lengthens every fence. */
  clockToleranceSeconds?: number | undefined;
  /** Also accepts version 1 proofs, which cover no method, path or nonce. */
  acceptV1?: boolean | undefined;
  /**
   * The only media type accepted, alone or with `charset=utf-8`; `application/json` by default. A proof does not cover it, so
   * it must not vary, and no parameter may change the meaning of the bytes.
   */
  contentType?: string | undefined;
  /**
   * Called once per request with its outcome, for metrics and logs, and again if a handler of node:http throws, or the store fails to
   * say what became of a call. It cannot change the verdict.
   *
   * @example onOutcome: ({ outcome, error }) => log.info({ outcome, err: error })
   */
  onOutcome?: ((report: ProofReport) => void) | undefined;
  /**
   * Called once for each proof that was accepted, with the SHA-256 of its signing input in hex, which identifies it in a
   * signing log: pass it to a monitor's `accepted`. It cannot change the verdict.
   *
   * @example onAccepted: monitor.accepted // of `createMonitor` in '@ori/tlog/monitor'
   */
  onAccepted?: ((proof: VerifiedProof, signingInputSha256: string) => void) | undefined;
  /**
   * Keeps the answer of each call for ten minutes, so that its caller can ask for it: `keepAnswers` of '@ori/verifier/answers'.
   *
   * @example answers: keepAnswers()
   */
  answers?: KeepAnswers | undefined;
  /** Unix time in milliseconds; `Date.now` by default. */
  now?: (() => number) | undefined;
}

const OPTION_NAMES: readonly (keyof VerifierOptions)[] = [
  'internId',
  'keys',
  'replay',
  'maxAgeSeconds',
  'clockToleranceSeconds',
  'acceptV1',
  'contentType',
  'onOutcome',
  'onAccepted',
  'answers',
  'now',
];
/** Not multipart: its boundary is a parameter, which no proof covers. */
const MEDIA_TYPE = /^(?!multipart\/)[a-z0-9!#$%&'*+.^_`|~-]+\/[a-z0-9!#$%&'*+.^_`|~-]+$/;

/** Throws TypeError for invalid options, unknown names included: a misspelled limit must not be silently ignored. */
export function requirePolicy(options: VerifierOptions) {
  requireNames(options, OPTION_NAMES, 'createVerifier');
  const { internId, keys, replay, acceptV1 = false, answers, now = Date.now } = options;
  const { onOutcome, onAccepted } = options;
  const contentType = options.contentType ?? 'application/json';
  if (typeof internId !== 'string' || !isInternId(internId)) {
    throw new TypeError('internId: expected 1 to 128 characters of A-Z a-z 0-9 _ -');
  }
  if (typeof keys?.current !== 'function') throw new TypeError('keys: expected a key set');
  if (typeof replay?.spend !== 'function') throw new TypeError('replay: expected a replay store');
  if (typeof acceptV1 !== 'boolean') throw new TypeError('acceptV1: expected true or false');
  if (onOutcome !== undefined && typeof onOutcome !== 'function') {
    throw new TypeError('onOutcome: expected a function');
  }
  if (onAccepted !== undefined && typeof onAccepted !== 'function') {
    throw new TypeError('onAccepted: expected a function');
  }
  if (answers !== undefined && typeof answers !== 'function') {
    throw new TypeError("answers: expected keepAnswers() of '@ori/verifier/answers'");
  }
  if (typeof now !== 'function') throw new TypeError('now: expected a function');
  if (typeof contentType !== 'string' || !MEDIA_TYPE.test(contentType)) {
    throw new TypeError(
      'contentType: expected a media type in lower case, without parameters and not multipart',
    );
  }
  return Object.freeze({
    internId,
    keys,
    replay,
    acceptV1,
    contentType,
    onOutcome,
    onAccepted,
    answers,
    now,
    maxAgeSeconds: requireSeconds('maxAgeSeconds', options.maxAgeSeconds ?? 60, 1, 600),
    clockToleranceSeconds: requireSeconds(
      'clockToleranceSeconds',
      options.clockToleranceSeconds ?? 2,
      0,
      TOLERANCE_SECONDS_MAX,
    ),
  });
}

/** The options with their defaults, checked once. */
export type Policy = ReturnType<typeof requirePolicy>;

function requireSeconds(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new TypeError(`${name}: expected an integer from ${min} to ${max}`);
}
