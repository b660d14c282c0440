import type { CliErrorFacts } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import { daemonAdvice } from './daemon-advice.ts';
import type { Sentence } from './sentence.ts';

type DoctorCode =
  | 'configuration_unreadable'
  | 'configuration_malformed'
  | 'gateway_without_route'
  | 'gateway_faulty'
  | 'call_changed'
  | 'call_unchanged'
  | 'call_undiagnosed'
  | 'call_not_judged';

/** The failures that only `ori doctor` has. */
export const DOCTOR_SENTENCES: { readonly [Code in DoctorCode]: Sentence<CliErrorFacts[Code]> } = {
  configuration_unreadable: {
    exit: EXIT.usage,
    what: ({ file, why }) => `Cannot read ${file}: ${why}.`,
    next: ({ from }) =>
      from === undefined
        ? 'Check the name and its permissions.'
        : `It is included at ${from.file}:${from.line}; a relative name starts at the folder of the main file. Without it: --skip-missing.`,
  },
  configuration_malformed: {
    exit: EXIT.usage,
    what: ({ file, line, why }) => `${file}:${line}: ${why}.`,
    next: () =>
      'nginx would not start with it; nginx -t says more. Of other gateways ori reads no configuration: call through them with ori doctor call.',
  },
  gateway_without_route: {
    exit: EXIT.usage,
    what: ({ file }) => `Nothing in ${file} passes requests on, so there is nothing to judge.`,
    next: () => 'Name the main configuration, nginx.conf, or a file with the servers that call a daemon.',
  },
  gateway_faulty: {
    exit: EXIT.unexpected,
    what: ({ errors, warnings }) =>
      `This gateway is not safe for proofs: ${counted(errors, 'error')}, ${counted(warnings, 'warning')}.`,
    next: () => 'What was found is above. A warning that is settled: # ori-doctor: allow RULE, because …',
  },
  call_changed: {
    exit: EXIT.daemonRefused,
    what: ({ status, code, fields }) =>
      `The daemon answered ${status} (${code}): the call did not arrive as it was signed (${fields.join(', ')}).`,
    next: () => 'Have what stands between judged, such as nginx: ori doctor gateway /etc/nginx/nginx.conf',
  },
  call_unchanged: {
    exit: EXIT.daemonRefused,
    what: ({ status, code }) =>
      `The call arrived as it was signed, and the daemon answered ${status} (${code}).`,
    next: ({ status, code }) => UNCHANGED_ADVICE[code] ?? daemonAdvice(status, code),
  },
  call_undiagnosed: {
    exit: EXIT.daemonRefused,
    what: ({ status, code }) => `The daemon answered ${status} (${code}), and does not tell what arrived.`,
    next: () =>
      'Have it told: requireProof(verifier, { bodyBytesMax, diagnose: true }) in the daemon, then run this again. A gateway before it: ori doctor gateway /etc/nginx/nginx.conf',
  },
  call_not_judged: {
    exit: EXIT.daemonRefused,
    what: ({ status, location }) =>
      `The answer is ${status}${location === undefined ? '' : `, pointing to ${location}`}, and no word of the proof.`,
    next: () =>
      'Either something before the daemon answered, or the daemon took the proof and answered so itself: check its address and the path. A gateway that cuts or rewrites the path answers so too: ori doctor gateway /etc/nginx/nginx.conf',
  },
};

/** Where the call is as it was signed, these have other causes than a changed call. */
const UNCHANGED_ADVICE: Readonly<Record<string, string>> = {
  signature_invalid:
    'So its signature fails for the daemon’s own part: it serves another intern, or has that intern’s keys from another signer. Check the intern’s id and the address.',
  nonce_replayed:
    'Something sent it twice, or another daemon got a copy first: a mirror or a retry. Have the gateway judged: ori doctor gateway /etc/nginx/nginx.conf',
  request_not_coverable: 'This daemon takes another media type; see --content-type.',
};

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
