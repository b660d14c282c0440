/** The dependencies without which nothing is signed. */
export type Dependency = 'redis' | 'postgresql' | 'issuer' | 'audit' | 'clock' | 'roles';

/** A dependency failed or did not answer in time. The caller gets 500 `internal_error` and may try again. */
export class DependencyError extends Error {
  override readonly name = 'DependencyError';
  readonly dependency: Dependency;
  /** For the operator, in `/readyz` and the log; with a cause, that explains itself. */
  readonly explanation: string | undefined;

  constructor(dependency: Dependency, message: string, options?: ErrorOptions) {
    super(message, options);
    this.dependency = dependency;
    this.explanation = options?.cause === undefined ? message : undefined;
  }
}
