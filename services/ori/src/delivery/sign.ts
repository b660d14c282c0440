import type { Traceparent } from '@ori/http/traceparent';
import type { ProofHeaderValues } from '@ori/proof/wire';
import { requestProof } from '../adapters/signer.ts';
import { CliError } from '../core/errors.ts';
import type { ProofRequest } from '../core/proof-request.ts';
import type { Session } from '../core/session.ts';
import { isNameOf, nameGiven, personOf } from '../core/signed-as.ts';
import { ownValue } from '../core/trust.ts';
import { withAccessToken } from '../session/access.ts';
import { explainUnsigned } from '../session/intern-id.ts';
import type { Profile } from '../session/profile.ts';
import { keepShown, readTrust } from '../session/trust.ts';

/** Requests a proof. If the API does not sign for the intern, the failure says why. Throws as `requestOwnProof`. */
export function signFor(
  profile: Profile,
  request: ProofRequest,
  trace: Traceparent,
): Promise<ProofHeaderValues> {
  return requestOwnProof(profile, request, trace).catch((error) =>
    explainUnsigned(profile, request.internId, error),
  );
}

/**
 * Requests a proof, and judges whether it is the one that was asked for: of this person, of now, and given for the first
 * time. TLS and a root do not show that, because a server in between can have a genuine proof of somebody else; a root shows that it is
 * the signer's. Throws CliError `signed_as_other`, `answer_not_understood` and `root_vouches_not`, and the errors of `requestProof`.
 */
export function requestOwnProof(
  profile: Profile,
  request: ProofRequest,
  trace: Traceparent,
): Promise<ProofHeaderValues> {
  const { terminal, interrupted, nowSeconds } = profile;
  return withAccessToken(profile, async (session, credential) => {
    terminal.detail(`POST ${session.base_url}/interns/${request.internId}/daemon/sign`);
    const by = { trace, signal: interrupted, nowSeconds };
    const proof = await requestProof(session.base_url, credential, request, by);
    await requireOwn(profile, session, String(proof['x-ori-invoke-user']));
    requireNew(session, String(proof['x-ori-invoke-nonce']));
    const { base_url: baseUrl } = session;
    const { roots = [] } = await readTrust(profile, baseUrl);
    if (roots.length > 0) {
      const { requireVouched } = await import('../proven/root.ts');
      await requireVouched({ roots, baseUrl }, request, proof, interrupted);
    }
    return proof;
  });
}

/** Throws CliError `signed_as_other` unless the user of a proof is the person of the session. */
async function requireOwn(profile: Profile, session: Session, user: string): Promise<void> {
  if (isNameOf(session, user)) return;
  const { base_url: baseUrl } = session;
  const person = personOf(session);
  const { users = {} } = await readTrust(profile, baseUrl);
  const before = ownValue(users, person) ?? nameGiven(session, user);
  if (before !== user) throw new CliError('signed_as_other', { baseUrl, user, before });
  if (ownValue(users, person) === undefined) await keepShown(profile, baseUrl, { users: { [person]: user } });
}

/** Of this process. A daemon refuses the same one later anyway. */
const GIVEN_MAX = 10_000;
const given = new Set<string>();

/** A proof that was given before is that of another call, whose answer would pass for this one's. */
function requireNew({ base_url: address }: Session, nonce: string): void {
  if (given.has(nonce)) {
    const why = 'it gave the same proof before';
    throw new CliError('answer_not_understood', { what: 'the API', address, why });
  }
  given.add(nonce);
  for (const oldest of given) {
    if (given.size <= GIVEN_MAX) break;
    given.delete(oldest);
  }
}
