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

/** A request that is refused for what it is or for who sent it. The message is for the caller. */
export class Refusal extends Error {
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Refusal';
    this.code = code;
  }
}
