/** A credential, or a change of one, that cannot be stored. The message is for the caller and quotes nothing of the key. */
export class InvalidCredential extends Error {
  override readonly name = 'InvalidCredential';
  /** Logs leave its message out. */
  readonly isForCaller = true;
}
