/** What `typ` of an access token may say: RFC 9068's `at+jwt`, the general `JWT`, or nothing at all. */
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
  /** Whether a token that does not tell when its person signed in is refused. */
  readonly requiresAuthTime: boolean;
  /** `at+jwt` alone unless given. */
  readonly tokenTypes?: readonly TokenType[];
  /** Where an issuer keeps what RFC 9068 keeps elsewhere. */
  readonly claims?: ClaimNames;
  /** The issuer's words for our scopes, by ours; the same words unless given. Then no other word is a scope. */
  readonly scopes?: Readonly<Record<string, readonly string[]>>;
  /** Whether an introspection answer may lack `aud`. */
  readonly introspectionWithoutAudience?: boolean;
}

/** Names of claims that differ from those of RFC 9068. */
interface ClaimNames {
  /** `sub` unless given. */
  readonly subject?: string;
  /** Beside `client_id` and `azp`; required if given. */
  readonly client?: string;
  /** A string of words or an array of strings; `scope` unless given. */
  readonly scope?: string;
  /** `auth_time` unless given. */
  readonly authTime?: string;
}
