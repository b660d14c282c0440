import { PRESENTATIONS, type SigningErrorCode } from '@ori/api/refusals';
import type { TokenFacts } from '@ori/identity/access-token';
import { DpopError } from '@ori/identity/dpop/error';
import type { VerifiedProof } from '@ori/identity/dpop/possession';
import { expect, test } from 'vitest';
import { BODY_BYTES_MAX, checkBodyHeaders } from './check-body-headers.ts';
import { checkHost } from './check-host.ts';
import { draftProof } from './draft-proof.ts';
import { ClockChecked, TurnTaken, Written } from './evidence.ts';
import { passGate } from './pass-gate.ts';
import { record } from './record.ts';
import { requireContent } from './require-content.ts';
import { requireHolder } from './require-holder.ts';
import { requireScope } from './require-scope.ts';
import { reserveNonce } from './reserve-nonce.ts';
import {
  BODY_SHA256,
  callerOf,
  GATE,
  grantOf,
  NONCE,
  NOW,
  orderOf,
  ROUTE,
  SIGNING_KEY,
  TOKEN,
  VERDICT,
} from './stages.fixture.ts';
import { throttle } from './throttle.ts';
import { unlockKey } from './unlock-key.ts';

// What each stage refuses, one row for each reason; a guard that is taken out of a stage is red here.

const JSON_TYPE = { contentType: 'application/json', contentEncoding: undefined, contentLength: 2 };
const BYTES = Buffer.from('{}');
const API_KEY = { kind: 'api', disabled: false } as const;
/** What the adapter of DPoP states of a proof by another key, over other content. */
const OTHER_PROOF = {
  thumbprint: 'other',
  requireContent() {
    throw new DpopError('dpop_content_refused', 'other content');
  },
} as unknown as VerifiedProof;

const session = (token: Partial<TokenFacts>) => callerOf({ token: { ...TOKEN, ...token } });
const boundSession = session({ keyThumbprint: 'thumb' });
const entryOf = (subject: string) => passGate(orderOf(undefined, grantOf({ subject })), GATE);
const draft = () => draftProof(unlockKey(entryOf('ada'), SIGNING_KEY), new ClockChecked(), NOW, NONCE);

const ROWS: readonly [string, SigningErrorCode, () => unknown][] = [
  ['a regional host', 'regional_host_refused', () => checkHost('eu.test', new Set(['eu.test']))],
  ['an unknown credential', 'bearer_refused', () => callerOf(undefined)],
  ['a disabled API key', 'bearer_refused', () => callerOf({ apiKey: { ...API_KEY, disabled: true } })],
  ['a management key', 'bearer_refused', () => callerOf({ apiKey: { ...API_KEY, kind: 'management' } })],
  ['an expired session', 'bearer_refused', () => session({ expiresAt: NOW - 3600 })],
  [
    'a bound session without a proof',
    'dpop_binding_refused',
    () => requireHolder(boundSession, undefined, false),
  ],
  ['a proof by another key', 'dpop_binding_refused', () => requireHolder(boundSession, OTHER_PROOF, false)],
  [
    'an unbound session where DPoP is required',
    'dpop_required',
    () => requireHolder(session({}), undefined, true),
  ],
  [
    'content that the DPoP proof does not cover',
    'dpop_content_refused',
    () => requireContent(OTHER_PROOF, BYTES),
  ],
  [
    'an API key',
    'personal_identity_required',
    () => requireScope(requireHolder(callerOf({ apiKey: API_KEY }), undefined, true)),
  ],
  ['a grant without the scope', 'insufficient_scope', () => grantOf({ scopes: ['openid', 'vault:write'] })],
  [
    'another media type',
    'unsupported_media_type',
    () => checkBodyHeaders({ ...JSON_TYPE, contentType: 'text/plain' }),
  ],
  [
    'an encoded body',
    'unsupported_media_type',
    () => checkBodyHeaders({ ...JSON_TYPE, contentEncoding: 'gzip' }),
  ],
  [
    'a body that is too large',
    'payload_too_large',
    () => checkBodyHeaders({ ...JSON_TYPE, contentLength: BODY_BYTES_MAX + 1 }),
  ],
  [
    'a digest of another form',
    'invalid_body',
    () => orderOf({ bodySha256: BODY_SHA256.toUpperCase(), route: ROUTE }),
  ],
  [
    'a member that the interface lacks',
    'invalid_body',
    () => orderOf({ bodySha256: BODY_SHA256, user: 'ada' }),
  ],
  ['somebody who is not a member', 'not_found', () => passGate(orderOf(), { ...GATE, membership: null })],
  [
    'a session that was ended',
    'insufficient_user_authentication',
    () => passGate(orderOf(undefined, grantOf({ authenticatedAt: 1 })), { ...GATE, sessionsValidFrom: 2 }),
  ],
  ['a removed member', 'access_revoked', () => passGate(orderOf(), { ...GATE, membership: 'removed' })],
  [
    'a subject that does not fit into a header',
    'configuration_error',
    () => unlockKey(entryOf('a\nb'), SIGNING_KEY),
  ],
  ['an intern without a usable key', 'configuration_error', () => unlockKey(entryOf('ada'), undefined)],
  [
    'a turn that is not left',
    'rate_limited',
    () => throttle(draft(), new TurnTaken({ ...VERDICT, allowed: false }, true)),
  ],
];

test.each(ROWS)('a stage refuses %s: %s', (_, code, stage) => {
  expect(stage).toThrow(expect.objectContaining({ code }));
});

/** What no stage refuses: whoever reads a token or a DPoP proof does, and a failure is no refusal. */
const ELSEWHERE = [
  'certificate_bound',
  'dpop_nonce_required',
  'dpop_proof_refused',
  'dpop_proof_replayed',
  'internal_error',
] satisfies readonly SigningErrorCode[];

test('each code of the signing table is refused with by a stage, or is known to come from elsewhere', () => {
  const codes = new Set([...ROWS.map(([, code]) => code), ...ELSEWHERE]);
  expect([...codes].sort()).toEqual(Object.keys(PRESENTATIONS).sort());
});

test('no proof is signed on the written line of another', () => {
  const turn = throttle(draft(), new TurnTaken(VERDICT, true));
  const proof = reserveNonce(turn, true) ?? expect.unreachable();
  expect(() => record(proof, 'its line', new Written('another line'))).toThrow(TypeError);
});
