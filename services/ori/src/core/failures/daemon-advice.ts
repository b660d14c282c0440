import type { ProofErrorCode, UnavailableErrorCode } from '@ori/proof';

/** What to do about the refusals of a daemon with @ori/verifier (libs/public/proof/SPEC.md, section 5). */
const ADVICE: Readonly<Record<ProofErrorCode | UnavailableErrorCode, string>> = {
  proof_missing: 'Something between ori and the daemon dropped the proof headers.',
  proof_malformed: 'Something between ori and the daemon changed the proof headers.',
  proof_version_not_accepted: 'This daemon accepts another version of the proof.',
  request_not_coverable:
    'The daemon accepts another media type (see --content-type), or something in between added a query or changed the request. To find out which, use ori doctor call instead of ori call.',
  proof_expired:
    'The proof was too old on arrival: check the clocks of the daemon and the signer, or send a smaller body.',
  proof_not_yet_valid: 'The daemon’s clock is behind the signer’s.',
  key_unknown:
    'The daemon does not have the key of this intern: check the intern’s id and the daemon’s address.',
  signature_invalid:
    'The daemon received other bytes or another path than ori sent, or serves another intern. To find out which, use ori doctor call instead of ori call.',
  nonce_replayed: 'A copy of the request came first, and that call was carried out.',
  nonce_not_issued: 'The daemon shares no Redis with the signer that made this proof.',
  proof_before_fence:
    'The daemon’s replay store is a few seconds old. Run the command again in a few seconds. If that does not help, the daemon makes a new store for each request.',
  answers_not_kept: 'The daemon keeps no answers: ask its operator what became of the call.',
  body_too_large: 'Send a smaller body.',
  keys_unavailable: 'The daemon cannot get the public keys of this intern. Try again in a moment.',
  replay_store_unavailable: 'The daemon’s replay store is down. Try again in a moment.',
  replay_store_unsafe:
    'The daemon’s replay store is not safe to use: report it to the operator of the daemon.',
  replay_store_full: 'The daemon’s replay store is full. Try again in a minute.',
};

const SAYS_WHY = 'Its answer, which ori call prints, or its log may say why.';

/** What to do next about a daemon's answer. An unknown code gets the advice of its status. */
export function daemonAdvice(status: number, code: string | undefined): string {
  if (code !== undefined && isKnown(code)) return ADVICE[code];
  if (code === 'internal_error')
    return 'The daemon’s log says why, such as a body parser that is mounted before requireProof.';
  if (isNotCarriedOut(status, code)) return `The call was not carried out. ${SAYS_WHY}`;
  if (status >= 500 || status === 408 || status === 499)
    return `The call may have been carried out. ${SAYS_WHY}`;
  if (status >= 300 && status < 400)
    return 'ori does not follow redirects: a proof is for one path. Check the daemon’s address.';
  return SAYS_WHY;
}

/** Refusals of the guard before it passes a call on (services/guard/README.md). */
const GUARD_REFUSALS = new Set(['503 busy', '503 body_not_kept', '502 daemon_unreachable']);

/** The statuses of SPEC.md, section 5. */
const REFUSED = new Set([401, 413, 503]);

/**
 * Whether a refusal says that the call was not carried out. Of one that was replayed a copy was, and of one that expired on the way a copy
 * may have been.
 */
export function isNotCarriedOut(status: number, code: string | undefined): boolean {
  if (code === undefined || code === 'nonce_replayed' || code === 'proof_expired') return false;
  return (isKnown(code) && REFUSED.has(status)) || GUARD_REFUSALS.has(`${status} ${code}`);
}

function isKnown(code: string): code is keyof typeof ADVICE {
  return Object.hasOwn(ADVICE, code);
}
