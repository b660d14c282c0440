import type { Bearer } from '@ori/identity/bearer';
import { IdentityError } from '@ori/identity/identity-error';
import type { OpenIdentity } from '@ori/identity/open-identity';
import type { ApiKeyFacts } from '@ori/store/facts';
import { DependencyError } from '../core/dependency-error.ts';

export function createIdentities(open: OpenIdentity<ApiKeyFacts>) {
  return {
    /** @throws IdentityError `bearer_refused`, `certificate_bound`; DependencyError */
    identify(bearer: Bearer, network: string) {
      const found = open.identify(bearer, network);
      return found instanceof Promise ? orUnavailable(found) : found;
    },
    /** @throws DependencyError `issuer` when tokens cannot be verified now */
    check: (): Promise<void> => orUnavailable(open.check()),
  };
}

/** Identifies the owner of a bearer credential. An issuer that does not answer is a failed dependency. */
export type Identities = ReturnType<typeof createIdentities>;

function orUnavailable<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((error) => {
    if (!(error instanceof IdentityError) || error.code !== 'issuer_unavailable') throw error;
    throw new DependencyError('issuer', error.message, { cause: error });
  });
}
