/** Why an operation was not carried out; http gives each its status and sentence. */
export type RefusalCode =
  | 'bearer_refused'
  | 'management_key_required'
  | 'insufficient_scope'
  | 'access_revoked'
  | 'regional_host_refused'
  | 'not_found'
  | 'invalid_parameters'
  | 'conflict';

/** A request that is refused for what it is or for who sent it. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  /** Its message may quote what was sent: logs leave it out. */
  readonly isForCaller = true;

  /** @param message what is wrong, as a sentence for the caller; only `invalid_parameters` has one of its own */
  constructor(code: 'invalid_parameters', message: string, options?: ErrorOptions);
  constructor(code: Exclude<RefusalCode, 'invalid_parameters'>);
  constructor(code: RefusalCode, message: string = code, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Refusal';
    this.code = code;
  }
}
