/** What went wrong with the last fetch of a remote document. */
export type RemoteJsonErrorCode =
  | 'unreachable'
  | 'timed_out'
  | 'redirected'
  | 'bad_status'
  | 'too_large'
  | 'unreadable'
  | 'closed';

/** The document could not be fetched; `code` says why, `cause` is for the log. */
export class RemoteJsonError extends Error {
  readonly code: RemoteJsonErrorCode;

  constructor(code: RemoteJsonErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RemoteJsonError';
    this.code = code;
  }
}
