import {
  isPath,
  PROOF_HEADERS,
  ProofError,
  type ProofErrorCode,
  UnavailableError,
  type UnavailableErrorCode,
} from '@ori/proof';
import { REFUSAL_CODES } from './refusal.ts';
import type { RequestHead } from './requirements.ts';
import { messageOf, warn } from './warning.ts';

/**
 * What became of a request. Beside the codes of the errors: `aborted`, the client sent only part of a body; `internal_error`, the
 * daemon's own code failed: an adapter mounted after a body parser, or a handler that threw.
 */
export type ProofOutcome = 'accepted' | ProofErrorCode | UnavailableErrorCode | 'aborted' | 'internal_error';

/** All there are, so that a counter can have every series from the start. */
export const PROOF_OUTCOMES: readonly ProofOutcome[] = [
  'accepted',
  ...REFUSAL_CODES,
  'aborted',
  'internal_error',
];

/** What a request looked like: no header value, no query and nothing of the body. */
export interface RequestFacts {
  readonly method: string;
  /** Up to the query; undefined where it is not 1 to 2048 visible ASCII characters that begin with a slash. */
  readonly path: string | undefined;
  /** The proof headers that came, in lower case, in the order of arrival. */
  readonly proofHeaders: readonly string[];
}

/** What `onOutcome` is given. */
export interface ProofReport {
  readonly outcome: ProofOutcome;
  /** Why, for every outcome but `accepted`. Its message and those of its `cause` hold nothing from the request. */
  readonly error?: unknown;
  readonly request: RequestFacts;
}

/** Tells what became of a request. */
export type Report = (outcome: ProofOutcome, request: RequestHead, error?: unknown) => void;

/** What the operator must fix; a stranger cannot cause it. */
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
 * Calls `listen`, and whatever it does the verdict stays what it was: a proof that was accepted is used up. Warns of what the operator
 * must fix, once a minute for each outcome.
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

/** The code of an error that judges a request; undefined for any other. */
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
