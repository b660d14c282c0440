import { DPOP_ALGORITHMS } from '@ori/dpop';
import type { Route } from '@ori/http/routes';
import { SIGNING_SCOPE } from '@ori/signing-api/refusals';

/**
 * `GET /.well-known/oauth-protected-resource/v1` (RFC 9728): from it and the base address a client finds the issuer and
 * the scopes to ask for.
 */
export function protectedResourceRoute({
  baseUrl,
  issuer,
  requireDpop,
}: {
  readonly baseUrl: string;
  readonly issuer: string;
  readonly requireDpop: boolean;
}): Route['handler'] {
  const body = JSON.stringify({
    resource: baseUrl,
    authorization_servers: [issuer],
    scopes_supported: [SIGNING_SCOPE, 'interns'],
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: DPOP_ALGORITHMS,
    dpop_bound_access_tokens_required: requireDpop,
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
