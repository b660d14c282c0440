import type { AddressFault, CliError, CliErrorCode, CliErrorFacts, ServerSaid } from '../core/errors.ts';
import { EXIT, type ExitCode } from '../core/exit-codes.ts';
import { daemonAdvice } from './daemon-advice.ts';
import { DOCTOR_SENTENCES } from './doctor-sentences.ts';
import type { Sentence } from './sentence.ts';
import { SESSION_SENTENCES } from './session-sentences.ts';

const TRY_AGAIN = 'Try again in a moment.';

const ADDRESS_FAULTS = {
  not_a_url: ['is not a URL', 'Write it in full, such as https://api.example.com/v1'],
  not_http: ['is neither https nor http', 'Use an https:// address.'],
  plain_http: [
    'is plain http, and not on this machine',
    'Use https://. Plain http is accepted on 127.0.0.1, [::1] and localhost only.',
  ],
  credentials: ['holds a user name or a password', 'Remove them: ori never sends any.'],
  query_or_fragment: ['holds a query or a fragment', 'Remove everything from the ? or # on.'],
  not_an_origin: [
    'holds more than an origin',
    'Give scheme, host and port only; the path is its own argument, because the proof covers it.',
  ],
} satisfies Record<AddressFault, readonly [string, string]>;

/** Every sentence that a failure of `ori` is told with: what happened, and what to do next. */
const SENTENCES: { readonly [Code in CliErrorCode]: Sentence<CliErrorFacts[Code]> } = {
  usage: {
    exit: EXIT.usage,
    what: ({ detail }) => detail,
    next: ({ next }) => next ?? 'See: ori --help',
  },
  address_not_usable: {
    exit: EXIT.usage,
    what: ({ what, address, why }) => `The ${what} ${address} ${ADDRESS_FAULTS[why][0]}.`,
    next: ({ why }) => ADDRESS_FAULTS[why][1],
  },
  issuer_not_usable: {
    exit: EXIT.refused,
    what: ({ what, address, why }) =>
      `The ${what} ${address}, named by the server, ${ADDRESS_FAULTS[why][0]}.`,
    next: () => 'Tell whoever runs the API or the issuer: ori sends nothing there.',
  },
  path_not_signable: {
    exit: EXIT.usage,
    what: ({ path }) => `A proof cannot cover the path ${shortened(path)}`,
    next: () =>
      'It begins with / and has at most 2048 printable ASCII characters, without space, # and ?. Percent-encode the rest; a query is not possible.',
  },
  intern_id_malformed: {
    exit: EXIT.usage,
    what: ({ internId }) => `${shortened(internId)} is not the id of an intern.`,
    next: () => 'Ids have letters, digits, _ and -, such as int_7Qm2. See: ori interns list',
  },
  body_missing: {
    exit: EXIT.usage,
    what: () => 'There is no request body.',
    next: () => `Give --data '{"prompt":"hello"}', --file FILE, or pipe it in. For an empty one: --data ''`,
  },
  body_unreadable: {
    exit: EXIT.usage,
    what: ({ file, why }) => `Cannot read ${file}: ${why}.`,
    next: () => 'Check the name and its permissions.',
  },
  body_changed: {
    exit: EXIT.unexpected,
    what: ({ file }) => `${file} changed between hashing and sending; the call was broken off.`,
    next: () => 'The daemon got no complete request. Run it again when the file is no longer written to.',
  },
  output_unwritable: {
    exit: EXIT.usage,
    what: ({ file, why }) => `Cannot write ${file}: ${why}.`,
    next: () => 'The daemon has answered: name another file only if the call may be made twice.',
  },
  daemon_unknown: {
    exit: EXIT.usage,
    what: () => 'ori does not know where the daemon of this intern is.',
    next: () => 'Name it: --daemon https://…, or set ORI_DAEMON_URL.',
  },
  ...SESSION_SENTENCES,
  resource_mismatch: {
    exit: EXIT.refused,
    what: ({ baseUrl, resource }) => `${baseUrl} describes itself as ${resource}.`,
    next: () =>
      'Check the base address (ORI_BASE_URL or --base-url): a token for one must not go to the other.',
  },
  metadata_unusable: {
    exit: EXIT.unavailable,
    what: ({ url, why }) => `${url} does not tell how to sign in: ${why}.`,
    next: () => 'Check the base address (ORI_BASE_URL or --base-url); it ends in /v1.',
  },
  unreachable: {
    exit: EXIT.unavailable,
    what: ({ what, address, why }) => `Cannot reach ${what} at ${address}: ${why}.`,
    next: ({ what }) =>
      `Check the address${what === 'the daemon' ? ' (--daemon, ORI_DAEMON_URL)' : ''} and the network, then try again.`,
  },
  timed_out: {
    exit: EXIT.unavailable,
    what: ({ what, address, seconds }) => `No answer from ${what} at ${address} within ${seconds} s.`,
    next: () => TRY_AGAIN,
  },
  answer_not_understood: {
    exit: EXIT.unavailable,
    what: ({ what, address, why }) =>
      `The answer of ${what} at ${address} is not one that ori understands: ${why}.`,
    next: () => 'Check the address: something else may be answering there.',
  },
  proof_not_logged: {
    exit: EXIT.refused,
    what: ({ origin }) => `The log ${origin} has no leaf of this proof.`,
    next: () =>
      'A proof is in the log a few seconds after it was made. If it stays out, its signing key was used elsewhere.',
  },
  log_not_trusted: {
    exit: EXIT.refused,
    what: ({ code, why }) => `The log cannot be relied on (${code}): ${why}.`,
    next: () => 'Check the policy file. Two signed checkpoints that disagree are evidence: keep them.',
  },
  scope_missing: {
    exit: EXIT.refused,
    what: ({ scope }) => `The session lacks the scope ${scope}.`,
    next: ({ scope }) =>
      `Sign in again and grant it: ori login. If it is missing still, you may not have ${scope} at the issuer.`,
  },
  access_revoked: {
    exit: EXIT.refused,
    what: (said) => `Your access was revoked: ${serverSaid(said)}`,
    next: () => `If you have it again since, sign in anew: ori login. Else ask an owner of the workspace.`,
  },
  bound_session_required: {
    exit: EXIT.refused,
    what: (said) => `This session is bound to no key: ${serverSaid(said)}`,
    next: () =>
      'Sign in again: ori login. If the session is not bound then either, the issuer does not offer DPoP.',
  },
  regional_host: {
    exit: EXIT.refused,
    what: (said) => `Interns are not served on a regional host: ${serverSaid(said)}`,
    next: () => 'Use the global base address (ORI_BASE_URL or --base-url).',
  },
  intern_not_found: {
    exit: EXIT.refused,
    what: ({ internId }) => `There is no intern ${internId} that you can call.`,
    next: () =>
      'Check the id (ori interns list), who you are (ori whoami), and whether your workspace takes part.',
  },
  intern_not_running: {
    exit: EXIT.refused,
    what: ({ internId, state, why }) =>
      `The intern ${internId} is not running, so calls to it are not signed: ${state}${why === undefined ? '' : ` (${why})`}.`,
    next: () => 'Wait until it runs, or call another: ori interns list',
  },
  programme_not_found: {
    exit: EXIT.refused,
    what: (said) => `No interns for you here: ${serverSaid(said)}`,
    next: () => 'Check who you are (ori whoami), and whether your workspace takes part in the programme.',
  },
  refused: {
    exit: EXIT.refused,
    what: (said) => `The API refused: ${serverSaid(said)}`,
    next: () => 'The same request will be refused again.',
  },
  rate_limited: {
    exit: EXIT.rateLimited,
    what: () => 'Too many turns: you, or your organization, used up this minute’s share.',
    next: ({ retryAfterSeconds }) =>
      retryAfterSeconds === undefined ? 'Try again in a minute.' : `Try again in ${retryAfterSeconds} s.`,
  },
  api_failed: {
    exit: EXIT.unavailable,
    what: (said) => `The API failed: ${serverSaid(said)}`,
    next: () => TRY_AGAIN,
  },
  api_misconfigured: {
    exit: EXIT.refused,
    what: (said) => `The API cannot sign for this intern: ${serverSaid(said)}`,
    next: () => 'Trying again will not help: tell whoever runs it.',
  },
  interns_not_listed: {
    exit: EXIT.refused,
    what: ({ baseUrl }) => `The server at ${baseUrl} does not list interns.`,
    next: () => 'Ask its operator for the intern’s id; ori sign and ori call work with the id alone.',
  },
  daemon_refused: {
    exit: EXIT.daemonRefused,
    what: ({ status, code, location }) =>
      `The daemon answered ${status}${code === undefined ? '' : ` (${code})`}${location === undefined ? '' : `, pointing to ${location}`}.`,
    next: ({ status, code }) => daemonAdvice(status, code),
  },
  daemon_failed: {
    exit: EXIT.daemonFailed,
    what: ({ status, code }) => `The daemon answered ${status}${code === undefined ? '' : ` (${code})`}.`,
    next: ({ status, code }) => daemonAdvice(status, code),
  },
  answer_broke_off: {
    exit: EXIT.unavailable,
    what: ({ what, address }) => `The answer of ${what} at ${address} broke off.`,
    next: () => 'What was printed is not the whole answer. The call itself may have been carried out.',
  },
  revocation_failed: {
    exit: EXIT.unavailable,
    what: ({ issuer, why }) =>
      `You are signed out on this machine, but ${issuer} did not take the session back: ${why}.`,
    next: () => 'End it there (the issuer’s page of your sessions), or wait until it expires.',
  },
  ...DOCTOR_SENTENCES,
  interrupted: {
    exit: EXIT.interrupted,
    what: () => 'Interrupted.',
    next: () => 'Nothing was left running.',
  },
};

export interface Told {
  readonly exit: ExitCode;
  readonly what: string;
  readonly next: string;
}

/** The sentence of a failure. It may hold text from a server: the caller escapes it. */
export function tell<Code extends CliErrorCode>(error: CliError<Code>): Told {
  const sentence: Sentence<CliErrorFacts[Code]> = SENTENCES[error.code];
  return { exit: sentence.exit, what: sentence.what(error.facts), next: sentence.next(error.facts) };
}

function serverSaid({ status, message, requestId }: ServerSaid): string {
  const said = /[.!?]$/.test(message) ? message : `${message}.`;
  return `${said} (${status}${requestId === undefined ? '' : `, request ${requestId}`})`;
}

function shortened(text: string): string {
  const shown = text.length > 80 ? `${text.slice(0, 77)}…` : text;
  return shown === '' ? '(empty)' : shown;
}
