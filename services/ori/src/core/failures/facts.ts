/** The terms of a sign-in: they decide who can use its tokens, and for what. */
export interface Terms {
  readonly issuer: string;
  readonly client: string;
  /** The requested scopes, separated by spaces. */
  readonly scope: string;
  /** Whether the issuer is told which API the tokens are for (RFC 8707). */
  readonly resource: boolean;
  /** Whether the tokens are useless without a key of this computer (RFC 9449). */
  readonly bound: boolean;
  /** Addresses other than the API's that the tokens are for, separated by spaces. */
  readonly audience: string;
}

export interface Difference {
  readonly member: keyof Terms;
  readonly before: string | boolean;
  readonly now: string | boolean;
}

export type AddressKind = 'base address' | 'daemon address' | 'issuer' | 'issuer endpoint';
export type AddressFault =
  | 'not_a_url'
  | 'not_http'
  | 'plain_http'
  | 'credentials'
  | 'query_or_fragment'
  | 'not_an_origin';

/** Why `ori proxy` does not sign a request. */
export type ProxyRefusal = 'host' | 'origin' | 'secret' | 'method' | 'coding' | 'key';

interface Traced {
  traceId?: string | undefined;
}

export interface DaemonRefusal extends Traced {
  status: number;
  code?: string | undefined;
  retryAfterSeconds?: number | undefined;
}

/** What is known of a call whose answer did not arrive. */
export interface AnswerLost {
  address: string;
  why: string;
  /** Its beginning did arrive. */
  isBegun?: boolean;
  /** Undefined if the daemon was not asked. */
  outcome?: CallOutcome | undefined;
  /** The status that the question got, if it was no answer to it. */
  asked?: number | undefined;
  /** How often the call was sent, if more than once. */
  sends?: number;
}

/**
 * A daemon's answer to the question about such a call: it did not receive it; it keeps no answers; nobody there knows questions; the call
 * is spent and nothing is kept of it; its answer was too large to be kept; it is running; or no answer.
 */
export type CallOutcome =
  | 'not_received'
  | 'carried_out'
  | 'not_kept'
  | 'not_understood'
  | 'lost'
  | 'too_large'
  | 'running'
  | 'nothing';

/** Additional facts from an answer of the API. */
export interface ServerFacts extends Traced {
  status?: number | undefined;
  requestId?: string | undefined;
}

export interface ServerRefusal extends ServerFacts {
  status: number;
  message: string;
  reason?: string | undefined;
}
