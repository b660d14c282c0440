/** What the signer cannot sign without. */
export type Dependency = 'redis' | 'postgresql' | 'issuer' | 'audit' | 'clock' | 'roles';

/** A dependency did not answer, in time or at all. The caller gets 500 `internal_error` and may try again. */
export class DependencyError extends Error {
  override readonly name = 'DependencyError';
  readonly dependency: Dependency;

  constructor(dependency: Dependency, message: string, options?: ErrorOptions) {
    super(message, options);
    this.dependency = dependency;
  }
}
