import { OriError } from '@ori/proof/errors';

/**
 * - `bearer_refused`: the credential is missing, malformed, or not one that this service accepts.
 * - `certificate_bound`: the access token is bound to a TLS client certificate (RFC 8705), which is not supported.
 * - `issuer_unavailable`: the credential cannot be checked now, because the issuer does not answer.
 * - `issuer_misconfigured`: it cannot be checked before a setting, here or at the issuer, is changed. The message says
 *   which.
 */
export type IdentityErrorCode =
  | 'bearer_refused'
  | 'certificate_bound'
  | 'issuer_unavailable'
  | 'issuer_misconfigured';

/** The caller could not be identified. The message is for the log and contains no part of the credential. */
export class IdentityError extends OriError<IdentityErrorCode> {
  override readonly name = 'IdentityError';
  /** The part of an access token that it was refused for: a claim, or a member of the header. */
  readonly claim: string | undefined;
  /** For the operator, in the log and by doctor: what to change. */
  readonly explanation: string | undefined;

  constructor(
    code: IdentityErrorCode,
    message: string,
    options?: ErrorOptions & { readonly claim?: string; readonly explanation?: string },
  ) {
    super(code, message, options);
    this.claim = options?.claim;
    this.explanation = options?.explanation ?? (code === 'issuer_misconfigured' ? message : undefined);
  }
}

/** @param claim a claim, or a member of the header */
export const tokenRefused = (claim: string) =>
  new IdentityError('bearer_refused', `access token refused for its ${claim}`, { claim });
