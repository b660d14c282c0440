import { type Bearer, readBearer } from '@ori/identity/bearer';
import { keyToProve, requirePossession } from '@ori/identity/dpop/binding';
import type { Possession, VerifiedProof } from '@ori/identity/dpop/possession';
import type { ProofTarget } from '@ori/identity/dpop/target';
import type { Identities, Identity } from '@ori/identity/identities';
import type { Database } from '@ori/store/database';
import type { Caller } from './caller.ts';
import { type ApiKeyCaller, findPerson } from './queries.ts';

interface Credentials {
  /** Every `Authorization` value of the raw header list. */
  readonly authorizations: readonly string[];
  /** The client's network, as in the exchange. */
  readonly network: string;
  /** Every `DPoP` value of the raw header list. */
  readonly proofs: readonly string[];
  readonly method: string;
  /** The URL as the client knows it. */
  readonly target: ProofTarget;
}

/** The sender of a request, and its proof of the key that the session is bound to. */
interface Sender {
  readonly caller: Caller;
  /** Spent, its content not checked yet; undefined for a credential that is bound to no key. */
  readonly proven: VerifiedProof | undefined;
}

export interface CallersOptions {
  readonly identities: Identities<ApiKeyCaller>;
  readonly possession: Possession;
  readonly requireDpop: boolean;
  readonly db: Database;
}

/** Identifies the senders of requests. Nothing is cached here, so a revocation is effective at the next request. */
export function createCallers({ identities, possession, requireDpop, db }: CallersOptions) {
  /** An API key is not bound to a key and is sent as Bearer. */
  async function requireHolder(
    bearer: Bearer,
    identity: NonNullable<Identity<ApiKeyCaller>>,
    request: Credentials,
  ) {
    const isSession = 'token' in identity;
    const keyThumbprint = isSession ? identity.token.keyThumbprint : undefined;
    const credential = { scheme: bearer.scheme, keyThumbprint };
    const key = keyToProve(credential);
    const { target, method, proofs } = request;
    const proven =
      key === undefined
        ? undefined
        : await possession.verify(key, { ...target, method, proofs, tokenDigest: bearer.digest() });
    if (proven) await possession.spend(proven);
    requirePossession(credential, proven, requireDpop && isSession);
    return proven;
  }

  return {
    /** @throws IdentityError, DpopError, StoreUnavailable */
    async identify(request: Credentials): Promise<Sender> {
      const bearer = readBearer(request.authorizations);
      const identity = await identities.identify(bearer, request.network);
      if (identity === undefined) return { caller: undefined, proven: undefined };
      const proven = await requireHolder(bearer, identity, request);
      if ('apiKey' in identity) return { caller: { key: identity.apiKey }, proven };
      const { issuer, subject, scopes, authenticatedAt } = identity.token;
      const person = await findPerson(db, { issuer, subject });
      return { caller: { session: { scopes, authenticatedAt, person } }, proven };
    },
  };
}

export type Callers = ReturnType<typeof createCallers>;
