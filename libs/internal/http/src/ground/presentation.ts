/** The public description of a failure. */
export interface Presentation {
  readonly status: number;
  readonly message: string;
  /** Metadata is present if there is a reason. */
  readonly reason?: string;
  /** `false` by default; only sent together with a reason. */
  readonly retryable?: boolean;
  /** Additional response headers, such as `WWW-Authenticate`, `Allow` or `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
}
