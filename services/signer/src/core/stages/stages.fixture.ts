import type { SigningErrorCode } from '@ori/api/refusals';
import type { TokenFacts } from '@ori/identity/access-token';
import { readBearer } from '@ori/identity/bearer';
import { createSigningKey } from '@ori/proof/signing';
import type { GateFacts } from '@ori/store/facts';
import type { TurnVerdict } from '@ori/turns/turn';
import { authenticate, type Caller, type Identity } from './authenticate.ts';
import { checkHost } from './check-host.ts';
import { type Order, readRequest } from './read-request.ts';
import { type Content, requireContent } from './require-content.ts';
import { type Holder, requireHolder } from './require-holder.ts';
import { type Grant, requireScope } from './require-scope.ts';
import { SigningError } from './signing-error.ts';

// Each stage's value on the good path: made the only way there is, through all stages before it.

export const NOW = 1_789_000_000;
export const NONCE = 'AAECAwQFBgcICQoLDA0ODw';
export const BODY_SHA256 = '8a44725210b9dcd4fefd9f0eca07b70ae45e69274a3105fb25eb426a2cf8bbf4';
export const ROUTE = { method: 'POST', path: '/api/invoke' };

export const TOKEN: TokenFacts = {
  issuer: 'https://issuer.test',
  subject: 'user_2abc',
  scopes: ['vault:read'],
  expiresAt: NOW + 300,
  authenticatedAt: NOW - 10,
};

export const GATE: GateFacts = {
  user: { id: 'user_1', disabled: false },
  intern: { id: 'int_7Qm2', workspaceId: 'ws_1', organizationId: 'org_1' },
  inProgramme: true,
  membership: 'active',
  sessionsValidFrom: null,
  lifecycleWritesEnabled: true,
};

export const VERDICT: TurnVerdict = {
  allowed: true,
  scope: 'user',
  remaining: 59,
  resetSeconds: 60,
  limits: { user: 60, organization: 600 },
  windowSeconds: 60,
};

/** RFC 8032 test 1, the key of the format's worked example. */
export const SIGNING_KEY = createSigningKey(
  Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex'),
);

const bearer = readBearer([`Bearer ${'x'.repeat(22)}`]);

export function callerOf(identity: Identity): Caller {
  return authenticate(checkHost(undefined, new Set()), bearer, identity, NOW);
}

function holderOf(token: Partial<TokenFacts> = {}): Holder {
  return requireHolder(callerOf({ token: { ...TOKEN, ...token } }), undefined, false);
}

export function grantOf(token: Partial<TokenFacts> = {}): Grant {
  return requireScope(holderOf(token));
}

/** The content of an unbound session's request. */
export function contentOf(bytes: Uint8Array): Content {
  return requireContent(undefined, bytes);
}

export function orderOf(body: object = { bodySha256: BODY_SHA256, route: ROUTE }, grant = grantOf()): Order {
  return readRequest(grant, contentOf(Buffer.from(JSON.stringify(body))));
}

/** The code with which a judgement refuses. */
export function codeOf(judge: () => unknown): SigningErrorCode {
  try {
    judge();
  } catch (error) {
    if (error instanceof SigningError) return error.code;
    throw error;
  }
  throw new TypeError('nothing was refused');
}
