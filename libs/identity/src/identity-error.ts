/**
 * - `bearer_refused`: the credential is missing, malformed, or not one that this service accepts.
 * - `certificate_bound`: the access token is bound to a TLS client certificate (RFC 8705), which is not supported.
 * - `issuer_unavailable`: the credential cannot be checked now, because the issuer does not answer.
 */
export type IdentityErrorCode = 'bearer_refused' | 'certificate_bound' | 'issuer_unavailable';

/** The caller could not be identified. The message is for the log and contains no part of the credential. */
export class IdentityError extends Error {
  readonly code: IdentityErrorCode;

  constructor(code: IdentityErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'IdentityError';
    this.code = code;
  }
}
