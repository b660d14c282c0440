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
