import { ALL_VERSIONS, type Version } from '@ori/proof/versions';
import { instrumentsOf } from '@ori/runtime/instruments';
import { createMetrics } from '@ori/runtime/metrics';
import { Counter } from 'prom-client';
import type { Dependency } from '../core/dependency-error.ts';

type CacheName = 'tokens' | 'gate' | 'keys';

/** The signer's own metrics, besides those of its HTTP server and process. Every series exists from the start. */
export function createSignerMetrics(
  routes: readonly string[],
  reasons: readonly string[],
  issuers: readonly string[],
) {
  const http = createMetrics({ service: 'signer', routes });
  const { counter } = instrumentsOf(http.registry);
  const proofs = counter(
    'signer_proofs_issued_total',
    'Proofs issued, by their newest version and whether the session is bound to a key.',
    'version',
    'bound',
  );
  const refusals = counter('signer_refusals_total', 'Signing requests refused, by reason.', 'reason');
  const failures = counter(
    'signer_dependency_failures_total',
    'Signing requests that failed because of a dependency, by dependency.',
    'dependency',
  );
  // Plain numbers, because there are three lookups in each request.
  const lookups = { tokens: { hit: 0, miss: 0 }, gate: { hit: 0, miss: 0 }, keys: { hit: 0, miss: 0 } };
  new Counter({
    name: 'signer_cache_lookups_total',
    help: 'Lookups in the caches of token facts, gate facts and signing keys.',
    labelNames: ['cache', 'result'],
    registers: [http.registry],
    collect() {
      this.reset();
      for (const [cache, results] of Object.entries(lookups)) {
        for (const [result, count] of Object.entries(results)) this.inc({ cache, result }, count);
      }
    },
  });
  const taken = counter(
    'signer_nonces_taken_total',
    'Nonces drawn that were already reserved. More than 0 means that the random source repeats itself.',
  );
  const unusable = counter(
    'signer_signing_keys_unusable_total',
    'Signing keys that cannot be opened or do not match their public key, each counted once.',
  );
  const undated = counter(
    'signer_tokens_without_auth_time_total',
    'Valid tokens without the time at which their person signed in, counted when they are verified.',
  );
  const unbound = counter(
    'signer_tokens_unbound_total',
    'Valid tokens that are not bound to a key although their issuer binds (DPoP), counted when they are verified.',
    'issuer',
  );
  const lost = counter(
    'signer_bindings_lost_total',
    'People whose session was bound to a key and now is not, as far as this instance saw both.',
  );
  for (const issuer of issuers) unbound.inc({ issuer }, 0);
  for (const version of ALL_VERSIONS) {
    for (const bound of ['true', 'false']) proofs.inc({ version: `v${version}`, bound }, 0);
  }
  for (const reason of reasons) refusals.inc({ reason }, 0);
  for (const dependency of ['redis', 'postgresql', 'issuer', 'audit', 'clock'])
    failures.inc({ dependency }, 0);
  return {
    http,
    /** @param bound whether the session is bound to a key */
    proofIssued: (version: Version, bound: boolean) =>
      proofs.inc({ version: `v${version}`, bound: String(bound) }),
    /** @param reason one of a closed set, never text of the request */
    refused: (reason: string) => refusals.inc({ reason }),
    dependencyFailed: (dependency: Dependency) => failures.inc({ dependency }),
    lookedUp(cache: CacheName, hit: boolean): void {
      lookups[cache][hit ? 'hit' : 'miss'] += 1;
    },
    /** A drawn nonce was already reserved. */
    nonceTaken: () => taken.inc(),
    signingKeyUnusable: () => unusable.inc(),
    /** @param dated whether the token has the time at which its person signed in */
    tokenVerified(dated: boolean): void {
      if (!dated) undated.inc();
    },
    /** A token that is not bound to a key, of an issuer that binds. */
    tokenUnbound: (issuer: string) => unbound.inc({ issuer }),
    /** A person whose session was bound to a key has one that is not. */
    bindingLost: () => lost.inc(),
  };
}

export type SignerMetrics = ReturnType<typeof createSignerMetrics>;
