/** Why an operation was not executed; presentation.ts maps each to a status and a message. */
export type RefusalCode =
  | 'bearer_refused'
  | 'management_key_required'
  | 'insufficient_scope'
  | 'access_revoked'
  | 'insufficient_user_authentication'
  | 'regional_host_refused'
  | 'not_found'
  | 'invalid_parameters'
  | 'unsupported_media_type'
  | 'precondition_failed'
  | 'key_used_otherwise'
  | 'key_in_use'
  | 'answer_lost'
  | 'too_many_answers';

/** A request that is refused because of its content or its caller. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  /** Its message may quote input, so logs omit it. */
  readonly isForCaller = true;

  /** @param message for the caller; only `invalid_parameters` has its own */
  constructor(code: 'invalid_parameters', message: string, options?: ErrorOptions);
  constructor(code: Exclude<RefusalCode, 'invalid_parameters'>);
  constructor(code: RefusalCode, message: string = code, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Refusal';
    this.code = code;
  }
}
