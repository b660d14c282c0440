import type { Difference } from './terms.ts';

/** Every failure of `ori`, with the facts for its message (text/sentences.ts has the messages). */
export interface CliErrorFacts {
  usage: { detail: string; next?: string };
  address_not_usable: { what: AddressKind; address: string; why: AddressFault };
  issuer_not_usable: { what: AddressKind; address: string; why: AddressFault };
  path_not_signable: { path: string };
  intern_id_malformed: { internId: string };
  body_missing: Record<never, never>;
  body_unreadable: { file: string; why: string };
  body_changed: { file: string };
  output_unwritable: { file: string; why: string };
  daemon_unknown: Record<never, never>;
  not_proxied: { why: ProxyRefusal };
  not_signed_in: { profile?: string };
  session_elsewhere: { sessionBaseUrl: string; baseUrl: string };
  session_file_exposed: { file: string; mode: string };
  session_file_damaged: { file: string };
  session_file_unusable: { file: string; why: string };
  session_key_missing: Record<never, never>;
  binding_not_offered: { issuer: string };
  sign_in_differs: { differences: readonly Difference[] };
  trust_damaged: { file: string };
  intern_changed: { name: string; before: string; now: string };
  session_busy: { file: string };
  keychain_unusable: { why: string };
  token_refused: { baseUrl: string } & ServerSaid;
  token_unusable: { why: string };
  profile_malformed: { profile: string };
  session_ended: { why?: string };
  session_not_renewed: { why: string };
  issuer_busy: { address: string; why: string };
  sign_in_denied: { why?: string };
  sign_in_failed: { why: string };
  sign_in_timed_out: { seconds: number };
  sign_in_method_missing: { issuer: string; method: string; next: string };
  api_not_named: { baseUrl: string };
  resource_mismatch: { baseUrl: string; resource: string };
  issuer_not_chosen: { baseUrl: string; issuers: readonly string[]; named?: string | undefined };
  metadata_unusable: { url: string; why: string };
  unreachable: { what: string; address: string; why: string };
  timed_out: { what: string; address: string; seconds: number };
  answer_not_understood: { what: string; address: string; why: string };
  scope_missing: { scope: string } & Told;
  scope_not_granted: { scopes: readonly string[] };
  access_revoked: ServerSaid;
  bound_session_required: ServerSaid;
  regional_host: ServerSaid;
  name_not_resolved: { name: string; scope: string } & Told;
  token_key_unusable: { file?: string; why: string };
  intern_not_found: { internId: string } & Told;
  intern_not_running: { internId: string; state: string; why?: string | undefined } & Told;
  refused: ServerSaid;
  rate_limited: { retryAfterSeconds?: number | undefined } & Told;
  api_failed: ServerSaid;
  api_misconfigured: ServerSaid;
  interns_not_listed: ServerSaid;
  daemon_refused: DaemonSaid & { location?: string | undefined };
  daemon_failed: DaemonSaid;
  answer_lost: AnswerLost;
  revocation_failed: { issuer: string; why: string };
  call_changed: { status: number; code: string; fields: readonly string[] };
  call_unchanged: { status: number; code: string };
  call_undiagnosed: { status: number; code: string };
  call_not_judged: { status: number; location?: string | undefined };
  proof_not_logged: { origin: string; isSigned: boolean };
  proof_not_for_call: { internId: string; of: 'headers' | 'proof' };
  log_file_unusable: { file: string; why: string };
  not_a_log: { address: string; why: string };
  log_not_trusted: { code: string; why: string };
  key_not_logged: { origin: string; keys: string };
  interrupted: Record<never, never>;
}

export type AddressKind = 'base address' | 'daemon address' | 'issuer' | 'issuer endpoint';
export type AddressFault =
  | 'not_a_url'
  | 'not_http'
  | 'plain_http'
  | 'credentials'
  | 'query_or_fragment'
  | 'not_an_origin';

/** Why `ori proxy` does not sign a request. */
export type ProxyRefusal = 'host' | 'origin' | 'secret' | 'method' | 'coding' | 'key';

interface Traced {
  traceId?: string | undefined;
}

/** Where the body of a daemon's answer is; `empty` if it has none. */
export type BodyPlace = 'printed' | 'in_file' | 'empty' | 'not_printed';

interface DaemonSaid extends Traced {
  status: number;
  code?: string | undefined;
  retryAfterSeconds?: number | undefined;
  body: BodyPlace;
}

/** What is known of a call whose answer did not arrive. */
interface AnswerLost {
  address: string;
  why: string;
  /** Its beginning did arrive. */
  isBegun?: boolean;
  /** Undefined if the daemon was not asked. */
  told?: ToldOfCall | undefined;
}

/**
 * What a daemon told of such a call: that it keeps no answers; that the call is spent and nothing is kept of it; that its answer was
 * too large to be kept; that it is running; or nothing.
 */
export type ToldOfCall = 'not_kept' | 'lost' | 'too_large' | 'running' | 'nothing';

/** Additional facts from an answer of the API. */
export interface Told extends Traced {
  status?: number | undefined;
  requestId?: string | undefined;
}

export interface ServerSaid extends Told {
  status: number;
  message: string;
  reason?: string | undefined;
}

export type CliErrorCode = keyof CliErrorFacts;

/**
 * A failure with its own message. `facts` may contain text from a server, which is escaped when printed, but never a
 * token. Any error that is not a CliError is a defect of `ori`, with exit code 1.
 */
export class CliError<Code extends CliErrorCode = CliErrorCode> extends Error {
  override readonly name = 'CliError';
  readonly code: Code;
  readonly facts: CliErrorFacts[Code];

  constructor(code: Code, facts: CliErrorFacts[Code], options?: ErrorOptions) {
    super(code, options);
    this.code = code;
    this.facts = facts;
  }
}

/** True for a failure with this code; narrows the type of its facts. */
export function isCliError<Code extends CliErrorCode>(error: unknown, code: Code): error is CliError<Code> {
  return error instanceof CliError && error.code === code;
}
