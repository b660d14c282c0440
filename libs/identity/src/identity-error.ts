/**
 * - `bearer_refused`: the credential is missing, malformed, or not one that this service accepts.
 * - `certificate_bound`: the access token is bound to a TLS client certificate (RFC 8705), which is not supported.
 * - `issuer_unavailable`: whether it is good cannot be found out now, because the issuer gives no answer.
 */
export type IdentityErrorCode = 'bearer_refused' | 'certificate_bound' | 'issuer_unavailable';

/** Nobody is known to have sent the request. The message is for the log and holds nothing of the credential. */
export class IdentityError extends Error {
  readonly code: IdentityErrorCode;

  constructor(code: IdentityErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'IdentityError';
    this.code = code;
  }
}
