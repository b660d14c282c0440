import type { Identities } from '@ori/identity';
import { readBearer } from '@ori/identity/bearer';
import type { ManagementQueries } from '@ori/store';
import type { Caller, KeyFacts } from './caller.ts';

/** Finds out who sent a request. What an operator revokes is effective at the next one: nothing is remembered here. */
export interface Callers {
  /**
   * @param authorizations every `Authorization` value of the raw header list
   * @throws IdentityError, StoreUnavailable
   */
  identify(authorizations: readonly string[]): Promise<Caller>;
}

export function createCallers(identities: Identities<KeyFacts>, store: ManagementQueries): Callers {
  return {
    async identify(authorizations) {
      const identity = await identities.identify(readBearer(authorizations));
      if (identity === undefined) return undefined;
      if ('apiKey' in identity) return { key: identity.apiKey };
      const { issuer, subject, scopes, authenticatedAt } = identity.token;
      return { session: { scopes, authenticatedAt, person: await store.person({ issuer, subject }) } };
    },
  };
}
