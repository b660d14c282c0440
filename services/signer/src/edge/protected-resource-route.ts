import type { Route } from '@ori/http/routes';
import { DPOP_ALGORITHMS } from '@ori/identity/dpop/algorithms';
import { CONTENT_CLAIM } from '@ori/identity/dpop/content';
import { type IssuerSettings, OUR_SCOPES } from '@ori/identity/issuers-file';

/**
 * `GET /.well-known/oauth-protected-resource/v1` (RFC 9728): with it and the base address a client finds the issuer and
 * the scopes to request. `x-ori_sign_in` tells `ori login` what each issuer needs, so that people need not type anything.
 */
export function protectedResourceRoute({
  baseUrl,
  issuers,
  requireDpop,
  requireContent,
}: {
  readonly baseUrl: string;
  readonly issuers: readonly IssuerSettings[];
  readonly requireDpop: boolean;
  readonly requireContent: boolean;
}): Route['handler'] {
  const body = JSON.stringify({
    resource: baseUrl,
    authorization_servers: issuers.map(({ issuer }) => issuer),
    scopes_supported: OUR_SCOPES,
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: DPOP_ALGORITHMS,
    dpop_bound_access_tokens_required: requireDpop,
    'x-ori_sign_in': issuers.map(({ issuer, signIn }) => ({
      issuer,
      client_id: signIn.clientId,
      scopes: signIn.scopes,
      resource: signIn.resource,
      ...(!signIn.consent && { consent: false }),
      redirect_port: signIn.redirectPort,
    })),
    // As in the CAMARA Security and Interoperability Profile.
    ...(requireContent && { 'x-dpop_claims_required': [CONTENT_CLAIM] }),
  });
  return async (req, res) => {
    res.writeHead(200, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      'Cache-Control': 'public, max-age=60',
    });
    res.end(req.method === 'HEAD' ? undefined : body);
  };
}
