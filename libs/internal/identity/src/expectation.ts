/** What `typ` of an access token may be: RFC 9068's `at+jwt`, the general `JWT`, or absent. */
export const TOKEN_TYPES = ['at+jwt', 'JWT', 'none'] as const;
export type TokenType = (typeof TOKEN_TYPES)[number];

/** The requirements on an access token of one issuer. */
export interface TokenExpectation {
  readonly issuer: string;
  readonly audience: string;
  /** The clients whose tokens are accepted. */
  readonly clients: readonly string[];
  /** The maximum lifetime of a token, in seconds. */
  readonly lifetimeMaxSeconds: number;
  /** Whether a token without the time at which its person signed in is refused. */
  readonly requiresAuthTime: boolean;
  /** Default: `at+jwt` alone. */
  readonly tokenTypes?: readonly TokenType[];
  /** The claims that an issuer names differently from RFC 9068. */
  readonly claims?: ClaimNames;
  /** The issuer's scopes, by the name that we use; others are then ignored. Default: the same names. */
  readonly scopes?: Readonly<Record<string, readonly string[]>>;
  /** Whether an introspection answer may lack `aud`. */
  readonly introspectionWithoutAudience?: boolean;
}

/** Names of claims that differ from those of RFC 9068; `a.b` is also `b` within `a`. */
interface ClaimNames {
  /** Default: `sub`. */
  readonly subject?: string;
  /** Checked in addition to `client_id` and `azp`; required if set. */
  readonly client?: string;
  /** A string of words or an array of strings. Default: `scope`. */
  readonly scope?: string;
  /** Default: `auth_time`. */
  readonly authTime?: string;
}
