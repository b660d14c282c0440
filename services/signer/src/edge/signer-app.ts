import type { IncomingMessage, RequestListener } from 'node:http';
import type { Presentation } from '@ori/http/presentation';
import { createExpressApp } from '@ori/http/routes';
import type { IssuerSettings } from '@ori/identity/issuers-file';
import type { Budget } from '@ori/runtime/metrics';
import { signProof } from '../core/sign-proof.ts';
import { type JwksParts, jwksRoute } from './jwks-route.ts';
import { NOT_FOUND, OVERLOADED, TOO_MANY_AT_ONCE, toPresentation } from './presentations.ts';
import { protectedResourceRoute } from './protected-resource-route.ts';
import { type SignRouteParts, signRoute } from './sign-route.ts';
import type { SignerMetrics } from './signer-metrics.ts';

export interface SignerAppParts extends SignRouteParts, JwksParts {
  readonly issuers: readonly IssuerSettings[];
}

/** The answer to a request beyond a limit: 429 on the signing route if the client itself caused it. */
export function presentBusy(req: IncomingMessage, budget: Budget): Presentation {
  const isOwnDoing = budget === 'address' || budget === 'connection';
  return isOwnDoing && SIGN_PATH.test(req.url ?? '') ? TOO_MANY_AT_ONCE : OVERLOADED;
}

const SIGN_PATH = /\/daemon\/sign(?:\?|$)/;

/** The templates of the routes under a base address. */
export function signerRoutes(baseUrl: string): { sign: string; jwks: string; protectedResource: string } {
  const base = new URL(baseUrl).pathname.replace(/\/$/, '');
  return {
    sign: `${base}/interns/{internId}/daemon/sign`,
    jwks: `${base}/interns/{internId}/daemon/jwks.json`,
    protectedResource: `/.well-known/oauth-protected-resource${base}`,
  };
}

/** The signer's three routes. It runs behind `startApiServer`, which gives each request its id and its deadline. */
export function createSignerApp(
  parts: SignerAppParts,
  metrics: SignerMetrics,
  sign = signProof,
): RequestListener {
  const templates = signerRoutes(parts.baseUrl);
  return createExpressApp({
    routes: [
      { template: templates.sign, method: 'POST', handler: signRoute(parts, metrics, sign) },
      { template: templates.jwks, method: 'GET', handler: jwksRoute(parts) },
      { template: templates.protectedResource, method: 'GET', handler: protectedResourceRoute(parts) },
    ],
    notFound: NOT_FOUND,
    present: toPresentation,
  });
}
