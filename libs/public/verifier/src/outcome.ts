import {
  isPath,
  PROOF_HEADERS,
  ProofError,
  type ProofErrorCode,
  UnavailableError,
  type UnavailableErrorCode,
} from '@ori/proof/wire';
import { REFUSAL_CODES } from './refusal.ts';
import type { RequestHead } from './request.ts';
import { messageOf, warn } from './warning.ts';

/**
 * The outcome of a request: `accepted`, the code of an error, `aborted` (the client sent only part of the body) or `internal_error`
 * (the daemon's own code failed: a handler of node:http threw, or the adapter is mounted after a body parser).
 */
export type ProofOutcome = 'accepted' | ProofErrorCode | UnavailableErrorCode | 'aborted' | 'internal_error';

/** All outcomes, to initialize a counter with. */
export const PROOF_OUTCOMES: readonly ProofOutcome[] = [
  'accepted',
  ...REFUSAL_CODES,
  'aborted',
  'internal_error',
];

/** Facts about a request that are safe to log: no header value, no query, no part of the body. */
export interface RequestFacts {
  readonly method: string;
  /** Up to the query; undefined unless it is a slash and up to 2047 visible ASCII characters. */
  readonly path: string | undefined;
  /** The names of the proof headers that arrived, in lower case and in order. */
  readonly proofHeaders: readonly string[];
}

/** The argument of `onOutcome`. */
export interface ProofReport {
  readonly outcome: ProofOutcome;
  /**
   * Set for every outcome but `accepted`. Its message and those of its causes contain nothing from the request, except what a handler
   * threw, the cause of `the handler threw`.
   */
  readonly error?: unknown;
  readonly request: RequestFacts;
}

/** Reports the outcome of a request. */
export type Report = (outcome: ProofOutcome, request: RequestHead, error?: unknown) => void;

/** Only the operator can fix these, and no outsider can cause them. */
const WARNED: ReadonlySet<ProofOutcome> = new Set<ProofOutcome>([
  'nonce_not_issued',
  'keys_unavailable',
  'replay_store_unavailable',
  'replay_store_unsafe',
  'replay_store_full',
  'internal_error',
]);
const WARNING_APART_MS = 60_000;

/**
 * Calls `listen`. An error that it throws does not change the verdict, because an accepted proof is spent. Warns the
 * operator of outcomes that only they can fix, at most once a minute per outcome.
 */
export function createReport(listen: ((report: ProofReport) => void) | undefined): Report {
  const warnedAt = new Map<ProofOutcome, number>();

  function warnOf(outcome: ProofOutcome, error: unknown): void {
    const now = performance.now();
    if (now - (warnedAt.get(outcome) ?? Number.NEGATIVE_INFINITY) < WARNING_APART_MS) return;
    warnedAt.set(outcome, now);
    warn(outcome, messageOf(error));
  }

  return (outcome, request, error) => {
    if (WARNED.has(outcome)) warnOf(outcome, error);
    try {
      listen?.({
        outcome,
        ...(outcome === 'accepted' ? {} : { error }),
        request: factsOf(request),
      });
    } catch (thrown) {
      warnOf('internal_error', new Error('onOutcome threw', { cause: thrown }));
    }
  };
}

/** The code of a ProofError or UnavailableError; undefined for any other error. */
export function codeOf(error: unknown): ProofErrorCode | UnavailableErrorCode | undefined {
  return error instanceof ProofError || error instanceof UnavailableError ? error.code : undefined;
}

const HEADER_NAMES: ReadonlySet<string> = new Set(Object.values(PROOF_HEADERS));

function factsOf({ method = '', target = '', rawHeaders }: RequestHead): RequestFacts {
  const [path = ''] = target.split('?', 1);
  return {
    method,
    path: isPath(path) ? path : undefined,
    proofHeaders: rawHeaders
      .filter((_, index) => index % 2 === 0)
      .map((name) => name.toLowerCase())
      .filter((name) => HEADER_NAMES.has(name)),
  };
}
