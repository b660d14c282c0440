import { ANSWER_LOST } from './answer-lost.ts';
import { daemonAdvice } from './daemon-advice.ts';
import { DOCTOR_FAILURES } from './doctor.ts';
import type {
  AddressFault,
  AddressKind,
  DaemonRefusal,
  ProxyRefusal,
  ServerFacts,
  ServerRefusal,
} from './facts.ts';
import { failure } from './failure.ts';
import { LOG_FAILURES } from './log.ts';
import { SESSION_FAILURES } from './session.ts';

const TRY_AGAIN = 'Try again in a moment.';
/** A profile keeps the scopes of `--scope`. */
const AS_CHOSEN = 'and name it in --scope if this profile was signed in with --scope';

const ADDRESS_FAULTS = {
  not_a_url: ['is not a URL', 'Write it in full, such as https://api.example.com/v1'],
  not_http: ['is neither https nor http', 'Use an https:// address.'],
  plain_http: [
    'is plain http, and not on this machine',
    'Use https://. Plain http is accepted on 127.0.0.1, [::1] and localhost only.',
  ],
  credentials: ['contains a user name or a password', 'Remove them: ori never sends any.'],
  query_or_fragment: ['contains a query or a fragment', 'Remove everything from the ? or # on.'],
  not_an_origin: [
    'is more than an origin',
    'Give only scheme, host and port. The path is a separate argument, because the proof covers it.',
  ],
} satisfies Record<AddressFault, readonly [string, string]>;

const PROXY_REFUSALS = {
  host: ['The request names another host.', 'Use the address that ori proxy printed.'],
  origin: [
    'The request comes from a web page that may not use this proxy.',
    'To allow pages of an origin, start ori proxy with --allow-origin.',
  ],
  secret: [
    'The request lacks the secret of this proxy.',
    'Use the address that ori proxy printed, with its path, or the header x-ori-proxy-secret.',
  ],
  method: ['Only POST requests are signed.', 'Make requests with another method without the proxy.'],
  key: ['This Idempotency-Key was that of another call.', 'Use a new key for each call.'],
  coding: ['A proof does not cover a content coding.', 'Send the body without Content-Encoding.'],
} satisfies Record<ProxyRefusal, readonly [string, string]>;

/** Every failure of `ori`: its facts, its exit code, and its message: what happened, and what to do next. */
export const FAILURES = {
  usage: failure.usage<{ detail: string; next?: string }>({
    what: ({ detail }) => detail,
    next: ({ next }) => next ?? 'See: ori --help',
  }),
  address_not_usable: failure.usage<{ what: AddressKind; address: string; why: AddressFault }>({
    what: ({ what, address, why }) => `The ${what} ${address} ${ADDRESS_FAULTS[why][0]}.`,
    next: ({ why }) => ADDRESS_FAULTS[why][1],
  }),
  issuer_not_usable: failure.refused<{ what: AddressKind; address: string; why: AddressFault }>({
    what: ({ what, address, why }) =>
      `The ${what} ${address}, named by the server, ${ADDRESS_FAULTS[why][0]}.`,
    next: () => 'ori sends nothing there. Report it to the operator of the API or the issuer.',
  }),
  path_not_signable: failure.usage<{ path: string }>({
    what: ({ path }) => `A proof cannot cover the path ${shortened(path)}`,
    next: ({ path }) =>
      /^[A-Za-z]:[\\/]/.test(path)
        ? 'Git Bash and MSYS rewrite what looks like a path of their own. Turn that off for ori: export MSYS_NO_PATHCONV=1'
        : 'A path begins with / and has at most 2048 printable ASCII characters, without space, # and ?. Percent-encode others; a query is not possible.',
  }),
  intern_id_malformed: failure.usage<{ internId: string }>({
    what: ({ internId }) => `${shortened(internId)} is not an intern id.`,
    next: () => 'Ids consist of letters, digits, _ and -, such as int_7Qm2. See: ori interns list',
  }),
  body_missing: failure.usage<object>({
    what: () => 'There is no request body.',
    next: () => `Give --data '{"prompt":"hello"}', --file FILE, or pipe it in. For an empty one: --data ''`,
  }),
  body_unreadable: failure.usage<{ file: string; why: string }>({
    what: ({ file, why }) => `Cannot read ${file}: ${why}.`,
    next: () => 'Check the name and its permissions.',
  }),
  body_not_kept: failure.unexpected<{ folder: string; why: string }>({
    what: ({ folder, why }) => `The body is too large for memory, and ${folder} cannot keep it: ${why}.`,
    next: () => 'Make room there, or set TMPDIR to another folder.',
  }),
  body_changed: failure.unexpected<{ file: string }>({
    what: ({ file }) => `${file} changed between hashing and sending, so the call was aborted.`,
    next: () =>
      'The daemon did not receive a complete request. Try again when the file is no longer being written.',
  }),
  output_unwritable: failure.usage<{ file: string; why: string; isAnswer?: boolean }>({
    what: ({ file, why }) => `Cannot write ${file}: ${why}.`,
    next: ({ isAnswer = false }) =>
      isAnswer
        ? 'The daemon has answered: repeat the call with another file only if it may be made twice.'
        : 'Check the name and its permissions.',
  }),
  daemon_unknown: failure.usage<object>({
    what: () => 'The address of this intern’s daemon is unknown.',
    next: () => 'Give it with --daemon https://…, or once: ori profiles daemon INTERN https://…',
  }),
  not_proxied: failure.refused<{ why: ProxyRefusal }>({
    what: ({ why }) => PROXY_REFUSALS[why][0],
    next: ({ why }) => PROXY_REFUSALS[why][1],
  }),
  ...SESSION_FAILURES,
  resource_mismatch: failure.refused<{ baseUrl: string; resource: string }>({
    what: ({ baseUrl, resource }) => `${baseUrl} describes itself as ${resource}.`,
    next: () =>
      'Check the base address (ORI_BASE_URL or --base-url): a token for one must not go to the other.',
  }),
  issuer_not_chosen: failure.usage<{
    baseUrl: string;
    issuers: readonly string[];
    named?: string | undefined;
  }>({
    what: ({ baseUrl, issuers, named }) =>
      named === undefined
        ? `${baseUrl} accepts sign-ins from several issuers: ${issuers.join(', ')}.`
        : `${named} is not an issuer of ${baseUrl}. It has: ${issuers.join(', ')}.`,
    next: () => 'Choose one of them, exactly as written: ori login --issuer URL',
  }),
  metadata_unusable: failure.unavailable<{ url: string; why: string }>({
    what: ({ url, why }) => `${url} does not describe how to sign in: ${why}.`,
    next: () => 'Check the base address (ORI_BASE_URL or --base-url); it ends in /v1.',
  }),
  unreachable: failure.unavailable<{ what: string; address: string; why: string }>({
    what: ({ what, address, why }) => `Cannot reach ${what} at ${address}: ${why}.`,
    next: ({ what }) =>
      `Check the address${what === 'the daemon' ? ' (--daemon, ORI_DAEMON_URL, ori profiles daemon)' : ''} and the network, then try again.`,
  }),
  timed_out: failure.unavailable<{ what: string; address: string; seconds: number }>({
    what: ({ what, address, seconds }) => `No answer from ${what} at ${address} within ${seconds} s.`,
    next: () => TRY_AGAIN,
  }),
  answer_not_understood: failure.unavailable<{ what: string; address: string; why: string }>({
    what: ({ what, address, why }) => `Cannot understand the answer of ${what} at ${address}: ${why}.`,
    next: () => 'Check the address: something else may be listening there.',
  }),
  scope_missing: failure.refused<{ scope: string } & ServerFacts>({
    what: ({ scope }) => `The session lacks the scope ${scope}.`,
    next: ({ scope }) =>
      `Sign in again and grant it: ori login, ${AS_CHOSEN}. If it is still missing, the issuer does not allow you ${scope}.`,
  }),
  access_revoked: failure.refused<ServerRefusal>({
    what: (refusal) => `Your access was revoked: ${quote(refusal)}`,
    next: () =>
      `If it was restored since, sign in again: ori login. If you have just done so, your issuer does not tell when you signed in, and an operator has to clear the revocation (ori-admin user revoke-sessions --clear). Otherwise ask an owner of the workspace.`,
  }),
  bound_session_required: failure.refused<ServerRefusal>({
    what: (refusal) => `This session is not bound to a key: ${quote(refusal)}`,
    next: () =>
      'Sign in again: ori login. If the new session is not bound either, the issuer does not offer DPoP.',
  }),
  regional_host: failure.refused<ServerRefusal>({
    what: (refusal) => `Interns are not served on a regional host: ${quote(refusal)}`,
    next: () => 'Use the global base address (ORI_BASE_URL or --base-url).',
  }),
  name_not_resolved: failure.refused<{ name: string; scope: string } & ServerFacts>({
    what: ({ name, scope }) =>
      `There is no intern with the id ${name}, and the session lacks the scope ${scope}, which names need.`,
    next: () => `Give the id, such as int_7Qm2, or sign in with that scope: ori login, ${AS_CHOSEN}.`,
  }),
  intern_not_found: failure.refused<{ internId: string } & ServerFacts>({
    what: ({ internId }) => `There is no intern ${internId} that you can call.`,
    next: () =>
      'Check the id (ori interns list), who you are (ori whoami), and whether your workspace is in the interns programme.',
  }),
  intern_changed: failure.refused<{ name: string; before: string; now: string }>({
    what: ({ name, before, now }) =>
      `${name} was ${before} for this profile, and the API lists ${now} by that name.`,
    next: ({ name }) => `To use that one: ori profiles daemon ${name} --unset`,
  }),
  intern_not_running: failure.refused<
    { internId: string; state: string; why?: string | undefined } & ServerFacts
  >({
    what: ({ internId, state, why }) =>
      `The intern ${internId} is not running, so calls to it are not signed: ${state}${why === undefined ? '' : ` (${why})`}.`,
    next: () => 'Wait until it is running, or call another one: ori interns list',
  }),
  refused: failure.refused<ServerRefusal>({
    what: (refusal) => `The API refused: ${quote(refusal)}`,
    next: ({ status }) =>
      status === 431
        ? 'The access token may be too long (16,000 characters): have the issuer put fewer groups or roles into it.'
        : 'The same request will be refused again.',
  }),
  rate_limited: failure.rateLimited<{ retryAfterSeconds?: number | undefined } & ServerFacts>({
    what: () => 'Too many turns: you or your organization have used up this minute’s turns.',
    next: ({ retryAfterSeconds }) =>
      retryAfterSeconds === undefined ? 'Try again in a minute.' : `Try again in ${retryAfterSeconds} s.`,
  }),
  api_failed: failure.unavailable<ServerRefusal>({
    what: (refusal) => `The API failed: ${quote(refusal)}`,
    next: () => TRY_AGAIN,
  }),
  api_misconfigured: failure.refused<ServerRefusal>({
    what: (refusal) => `The API cannot sign for this intern: ${quote(refusal)}`,
    next: () => 'Trying again will not help: report it to the operator of the API.',
  }),
  interns_not_listed: failure.refused<ServerRefusal>({
    what: (refusal) => `The API lists no interns for you: ${quote(refusal)}`,
    next: () =>
      'Check who you are (ori whoami), and whether your workspace is in the interns programme. An API without the list takes ids.',
  }),
  daemon_refused: failure.daemonRefused<DaemonRefusal & { location?: string | undefined }>({
    what: ({ status, code, location }) =>
      `The daemon answered ${status}${code === undefined ? '' : ` (${code})`}${location === undefined ? '' : `, pointing to ${location}`}.`,
    next: ({ status, code }) => daemonAdvice(status, code),
  }),
  daemon_failed: failure.daemonFailed<DaemonRefusal>({
    what: ({ status, code }) => `The daemon answered ${status}${code === undefined ? '' : ` (${code})`}.`,
    next: ({ status, code }) => daemonAdvice(status, code),
  }),
  answer_lost: ANSWER_LOST,
  revocation_failed: failure.unavailable<{ issuer: string; why: string }>({
    what: ({ issuer, why }) =>
      `You are signed out on this machine, but ${issuer} did not revoke the session: ${why}.`,
    next: () => 'Revoke it on the issuer’s page of your sessions, or wait until it expires.',
  }),
  ...DOCTOR_FAILURES,
  ...LOG_FAILURES,
  interrupted: failure.interrupted<object>({
    what: () => 'Interrupted.',
    next: () => 'What was sent to a daemon may be carried out.',
  }),
};

function quote({ status, message, requestId, traceId }: ServerRefusal): string {
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`;
  const ids = [requestId && `request ${requestId}`, traceId && `trace ${traceId}`];
  return `${sentence} (${[status, ...ids].filter(Boolean).join(', ')})`;
}

function shortened(text: string): string {
  const shown = text.length > 80 ? `${text.slice(0, 77)}…` : text;
  return shown === '' ? '(empty)' : shown;
}
