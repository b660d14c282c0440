/** A promise of a document: what it says, the file of the test that backs it, from `test/`, and a part of that test's name. */
export type Promised = readonly [promise: string, file: string, test: string];

/** What one caller cannot do to others. */
export const BETWEEN_CALLERS: readonly Promised[] = [
  [
    'No caller keeps others from being served, from one address or a thousand',
    'lab/siege/siege.test.ts',
    'ten members of another tenant are served during attacks from one client or a thousand',
  ],
  [
    'No body delays other requests',
    'lab/siege/event-loop.test.ts',
    'hostile bodies blocks the event loop for long',
  ],
  [
    'One address, or one /64 of IPv6, has a share of the requests in flight',
    '../libs/internal/http/src/overload/admission.test.ts',
    'one address, and one /64 of IPv6, does not block others',
  ],
  [
    'One account has a share of the requests in flight',
    '../libs/internal/http/src/overload/admission.test.ts',
    'an account at its limit is refused, another one is served',
  ],
  [
    'One connection has a share of the requests in flight',
    '../libs/internal/http/src/overload/admission.test.ts',
    'a connection with too many pipelined requests is answered up to the limit and closed',
  ],
  [
    'Slow bodies make room for others',
    '../libs/internal/http/src/overload/admission.test.ts',
    'the slowest body is ended for a new one, by number and by bytes',
  ],
  [
    'Answers that nobody reads are cut',
    '../libs/internal/http/src/overload/admission.test.ts',
    'a client that does not read its answer in time is disconnected',
  ],
  [
    'Idle connections make room for new ones',
    '../libs/internal/http/src/overload/admission.test.ts',
    'an idle connection is closed for a new one',
  ],
  [
    'Queued work is done for each account in turn',
    '../libs/internal/runtime/src/fair-semaphore.test.ts',
    'keys take turns, however much work one of them has queued',
  ],
  [
    'A burst of one account leaves the signer able to serve',
    'faults/cold-start.test.ts',
    'a signer that was just started serves',
  ],
  [
    'Patterns of one account do not delay those of another',
    '../services/management/src/guardrails/pattern-compiler.test.ts',
    'an account does not wait for all queued patterns of another',
  ],
  [
    'Compiling patterns delays no other request',
    '../services/management/src/guardrails/pattern-compiler.test.ts',
    'compiles on another thread while this one continues',
  ],
  [
    'What one account stores does not grow without bound',
    'contract/management/guardrails.test.ts',
    'is limited: 400 beyond it, nothing is stored, and other accounts are unaffected',
  ],
  [
    'A large page delays no other request',
    '../services/management/src/http/json-pieces.test.ts',
    'other requests run while a large page is serialized',
  ],
  [
    'Random tokens do not end sessions that the issuer has to be asked about',
    '../libs/internal/identity/src/identities.test.ts',
    'a token that was valid before counts as familiar until it is refused',
  ],
  [
    'A turn refused to the user costs the organization nothing',
    '../libs/internal/turns/src/limiter.test.ts',
    'refused for the user cost the organization nothing',
  ],
  [
    'A user who goes on past a limit takes no turns from the organization',
    '../libs/internal/turns/src/limiter.test.ts',
    'beyond the limit of the %s do not touch the counter of the %s',
  ],
  [
    'A turn is refunded if the request then fails through no fault of the caller',
    'contract/sign/500-internal-error.test.ts',
    'without a writable audit file there is no proof, and the turn is refunded',
  ],
  [
    'One address holds a bounded number of requests open at the gateway',
    'gateway/envelopes.test.ts',
    'an address that holds 200 requests open gets no more, and others are served',
  ],
  [
    'A stuck log reader delays no request',
    '../libs/internal/runtime/src/log-sink.test.ts',
    'a stuck reader of standard output does not block the process',
  ],
  [
    "No tenant reads or changes another tenant's data",
    'contract/management/matrix/matrix.test.ts',
    'answers each principal as the interface requires, without any row of another tenant',
  ],
  [
    'Nor if a query forgets its predicate',
    'contract/management/matrix/matrix.test.ts',
    'returns no row of another tenant even if the queries omit the tenant predicate',
  ],
  [
    'Hidden and absent cannot be told apart',
    'contract/sign/404-not-found.test.ts',
    'is not found, with the same bytes as any other',
  ],
  [
    'The signing log does not reveal calls',
    'transparency/privacy.test.ts',
    'nothing that the log serves, stores or reports contains a fact of a call, or its hash',
  ],
  [
    'Nor does it let anyone confirm a guess',
    'transparency/privacy.test.ts',
    'the leaf of a call can be recognized with its nonce, but not guessed without it',
  ],
];

/** What a proof proves: README.md. */
export const OF_A_PROOF: readonly Promised[] = [
  [
    'had checked a live session of exactly this subject, with the scope `vault:read`',
    'contract/sign/403-kind-and-scope.test.ts',
    'a token with another scope is refused after one with the right scope was accepted',
  ],
  [
    'had checked a live session of exactly this subject, with the scope `vault:read`',
    'contract/sign/401-expired.test.ts',
    'token is refused although its facts are still cached',
  ],
  [
    'had let it through the gate to exactly this intern',
    'contract/sign/403-access-revoked.test.ts',
    'a removal takes effect within two seconds for a token that was accepted before',
  ],
  [
    'had charged a turn',
    'contract/sign/200-proof.test.ts',
    'a v1 proof costs one turn of the user and of the organization, as a v2 proof does',
  ],
  [
    'signed a `POST` of exactly these bytes to exactly this path',
    'gateway/hostile.test.ts',
    'a server between client and daemon gets nothing accepted but the call itself, once',
  ],
  [
    'the proof was not presented before',
    'lab/exactly-once/harness.test.ts',
    'no proof is accepted twice under any fault, and fresh ones are accepted afterwards',
  ],
];

/** What an attacker cannot do: the threat model of SECURITY.md. */
export const OF_ATTACKERS: readonly Promised[] = [
  [
    'a proof, from a log or in transit',
    'gateway/hostile.test.ts',
    'a server between client and daemon gets nothing accepted but the call itself, once',
  ],
  [
    'a proof, from a log or in transit',
    'lab/exactly-once/harness.test.ts',
    'no proof is accepted twice under any fault, and fresh ones are accepted afterwards',
  ],
  [
    'an access token, unbound',
    'contract/sign/403-kind-and-scope.test.ts',
    'a token with another scope is refused after one with the right scope was accepted',
  ],
  [
    'an access token, bound to a key',
    'contract/management/dpop.test.ts',
    'refuses a bound session as Bearer, and an unbound one or an API key as DPoP',
  ],
  [
    'a refresh token, unbound',
    'e2e/cli-session.test.ts',
    'asks to sign in again if the issuer refuses the refresh',
  ],
  [
    'a refresh token, bound to a key',
    'e2e/cli-dpop.test.ts',
    'renews a bound session with the same key, and with no other',
  ],
  ["a session's private key", 'contract/sign/401-bearer.test.ts', 'is refused, and the issuer is not asked'],
  ['a token and its private key', 'contract/sign/401-dpop.test.ts', 'sends its own nonce if a proof has'],
  [
    'a DPoP proof, from a log or in transit',
    'contract/sign/401-dpop.test.ts',
    'a proof that came with another content is spent',
  ],
  [
    'a DPoP proof, from a log or in transit',
    'contract/management/dpop.test.ts',
    'a proof that one process took is refused by every other process, and after the database lost its run',
  ],
  [
    'one CLI machine',
    'contract/sign/404-not-found.test.ts',
    'is not found, with the same bytes as any other',
  ],
  [
    'the address of a running `ori proxy`',
    'e2e/cli-proxy.test.ts',
    'passes on neither cookies nor headers of its own, in either direction',
  ],
  [
    'the address of a running `ori proxy`',
    'e2e/cli-proxy.test.ts',
    'lets a page of the allowed origin ask, and read the answer',
  ],
  [
    "a tenant's management key",
    'contract/management/matrix/matrix.test.ts',
    'answers each principal as the interface requires, without any row of another tenant',
  ],
  [
    'an API key',
    'contract/management/matrix/matrix.test.ts',
    'answers each principal as the interface requires, without any row of another tenant',
  ],
  [
    "an intern's signing key",
    '../libs/public/verifier/src/replay/redis/store.test.ts',
    'refuses a correctly signed proof whose nonce was never issued, and does not spend it',
  ],
  [
    "an intern's signing key",
    'contract/jwks/rooted.test.ts',
    'a key that an insider moves to another intern is refused by its daemon',
  ],
  [
    'the private key of a root',
    '../libs/public/verifier/src/keys/rooted.test.ts',
    'with a root, the key of a server in between signs for nobody',
  ],
  [
    'the key of the role `keys`',
    'contract/jwks/rooted.test.ts',
    'without its freshness key a signer publishes no key that needs a statement',
  ],
  [
    'the key of the role `freshness`',
    'contract/jwks/rooted.test.ts',
    'a key that an insider adds to the database is not published, and signs nothing',
  ],
  [
    'the KEK file',
    '../libs/internal/store/src/sealing/transit.test.ts',
    'wraps and unwraps the keys of a ring, each call with the token that the file holds then',
  ],
  [
    'the KMS, or a token for it',
    '../libs/internal/store/src/sealing/transit.test.ts',
    'refuses a key that is not the one that was wrapped',
  ],
  [
    'the socket of the KMS agent',
    '../services/kms-agent/src/agent.test.ts',
    'refuses what it did not wrap, or what was altered',
  ],
  [
    'a database dump',
    'contract/management/dump.test.ts',
    'a dump of the database contains no provider key, API key or signing seed',
  ],
  [
    'the dump and the KEK file',
    'transparency/monitor.test.ts',
    'a proof of either version that no signer recorded is reported within 60 s, and recorded ones are not',
  ],
  [
    "the signer's database login",
    'contract/operations/restricted-role.test.ts',
    'SELECT on anything else is denied, and so is every way to write',
  ],
  [
    "management's database login",
    '../libs/internal/store/src/queries/privileges.test.ts',
    'hide every column of signing keys from management',
  ],
  ["the signer's Redis", 'contract/sign/401-dpop.test.ts', 'accepts one of fifty concurrent copies'],
  [
    "a daemon's Redis or PostgreSQL",
    'gateway/hostile.test.ts',
    'a server between client and daemon gets nothing accepted but the call itself, once',
  ],
  ['the audit file, for writing', 'transparency/commands.test.ts', 'ori-admin audit verify finds'],
  [
    "the signing log's key",
    'transparency/dishonest-log.test.ts',
    'a split view has no witness: a client that requires one refuses it, and one that has seen the other view has evidence',
  ],
  [
    'the gateway',
    'gateway/hostile.test.ts',
    'a server between client and signer gets no proof that the client of a bound session did not ask for',
  ],
  [
    'the gateway',
    '../libs/public/verifier/src/keys/rooted.test.ts',
    'with a root, the key of a server in between signs for nobody',
  ],
  [
    'the gateway',
    '../libs/public/verifier/src/keys/rooted.test.ts',
    'a server in between holds back a revocation for 60 s, and no longer',
  ],
  ['the issuer', 'contract/sign/404-not-found.test.ts', 'is not found, with the same bytes as any other'],
  [
    "the signer's process",
    'hardening/denied.test.ts',
    'code inside the signer is denied everything that the signer does not need, and the signer signs',
  ],
  [
    "the signer's process",
    'transparency/dishonest-log.test.ts',
    'a client detects a log that shows a smaller tree than before, also after a restart of the client',
  ],
  [
    "management's process",
    '../libs/internal/store/src/queries/privileges.test.ts',
    'hide every column of signing keys from management',
  ],
  [
    'a daemon',
    'gateway/hostile.test.ts',
    'a server between client and daemon gets nothing accepted but the call itself, once',
  ],
  [
    'network between `ori` and a daemon without TLS',
    'gateway/hostile.test.ts',
    'a server between client and daemon gets nothing accepted but the call itself, once',
  ],
];

/** What the model in `lab/model` leaves out. */
export const BESIDE_THE_MODEL: readonly Promised[] = [
  [
    'Between the caller and the signer; the symbolic model has it too',
    'gateway/hostile.test.ts',
    'a server between client and signer gets no proof that the client of a bound session did not ask for',
  ],
  [
    'Fetched key sets; the symbolic model has those with a root',
    '../libs/public/verifier/src/keys/rooted.test.ts',
    'with a root, the key of a server in between signs for nobody',
  ],
  [
    'Revocation',
    'faults/revocation.test.ts',
    'verifiers with every kind of store refuse a revoked key within two seconds',
  ],
  ['PostgreSQL', 'lab/exactly-once/harness.test.ts', 'npm run faults runs a schedule of PostgreSQL'],
  [
    'Cluster',
    'lab/exactly-once/redis-cluster.test.ts',
    'when a Cluster node is lost, no proof is accepted twice, and daemon and signer continue',
  ],
  [
    'Turns and their refunds',
    'faults/eight-signers.test.ts',
    'concurrent signers allow exactly the configured turns of',
  ],
  [
    "The signer's stores, after a promotion that loses writes",
    '../services/signer/src/effects/turns.test.ts',
    'a replica that lacks the last writes accepts none of their DPoP proofs when it is promoted',
  ],
];
