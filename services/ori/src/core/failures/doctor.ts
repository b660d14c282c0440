import { daemonAdvice } from './daemon-advice.ts';
import { failure } from './failure.ts';

export const DOCTOR_FAILURES = {
  daemon_open: failure.daemonRefused<{ address: string; status: number }>({
    what: ({ address, status }) =>
      `${address} answered ${status} to a call without a proof: it is open to anybody.`,
    next: () =>
      'Put the handler behind the verifier, or the daemon behind ori-guard, so that it is reachable in no other way.',
  }),
  answer_changed: failure.daemonRefused<{ fields: readonly string[] }>({
    what: ({ fields }) =>
      `The call was carried out, and its answer changed on the way${fields.length === 0 ? '' : ` (${fields.join(', ')})`}.`,
    next: () =>
      'The daemon kept the answer, so ori call gives it, after more questions. Have the server in between leave answers as they are: no compression, no charset of its own.',
  }),
  call_changed: failure.daemonRefused<{ status: number; code: string; fields: readonly string[] }>({
    what: ({ status, code, fields }) =>
      `The daemon answered ${status} (${code}): the request changed on the way (${fields.join(', ')}).`,
    next: () =>
      'Something in between changes requests. Configurations that do not: deploy/gateway/README.md.',
  }),
  call_unchanged: failure.daemonRefused<{ status: number; code: string }>({
    what: ({ status, code }) => `The request arrived unchanged, and the daemon answered ${status} (${code}).`,
    next: ({ status, code }) => UNCHANGED_ADVICE[code] ?? daemonAdvice(status, code),
  }),
  call_undiagnosed: failure.daemonRefused<{ status: number; code: string }>({
    what: ({ status, code }) =>
      `The daemon answered ${status} (${code}) and does not report what it received.`,
    next: ({ code }) =>
      [UNCHANGED_ADVICE[code], DIAGNOSES].filter((advice) => advice !== undefined).join(' '),
  }),
  call_not_judged: failure.daemonRefused<{ status: number; location?: string | undefined }>({
    what: ({ status, location }) =>
      `The answer is ${status}${location === undefined ? '' : `, pointing to ${location}`}, and says nothing about the proof.`,
    next: ({ status }) => (status === 401 ? WITHOUT_A_CODE : ANSWERED_BY_ANOTHER),
  }),
};

const DIAGNOSES =
  'Whether the request changed on the way is seen only by a daemon with @ori/verifier and requireProof(verifier, { bodyBytesMax, diagnose: true }).';

const ANSWERED_BY_ANOTHER =
  'Either a gateway answered, or the daemon accepted the proof and answered this itself: check its address and the path. A gateway may also have cut or rewritten the path.';

const WITHOUT_A_CODE =
  'It is a refusal, but not in the form of a verifier, which is {"error":{"code":"…"}} and nothing around it: does the framework wrap the daemon’s answers, as "detail" in FastAPI? Otherwise a gateway asks for credentials of its own.';

/** Advice on codes that have these causes when the request arrived unchanged. */
const UNCHANGED_ADVICE: Readonly<Record<string, string>> = {
  signature_invalid:
    'Does the daemon serve another intern, or have this intern’s keys from another signer? Check the intern’s id and the address of its keys.',
  nonce_replayed:
    'Something sent the request twice, or another daemon received a copy first: look for a mirror or a retry in the gateway.',
  request_not_coverable: 'This daemon accepts another media type; see --content-type.',
};
