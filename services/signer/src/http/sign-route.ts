import type { ServerResponse } from 'node:http';
import { countFor, exchangeOf } from '@ori/http/exchange';
import { valuesOf } from '@ori/http/raw-headers';
import type { Route } from '@ori/http/routes';
import { parseTarget } from '@ori/http/target';
import { isInternId } from '@ori/proof';
import { rateLimitHeaders } from '@ori/turns/rate-limit-headers';
import { DependencyError } from '../adapters/dependency-error.ts';
import type { SignerMetrics } from '../adapters/signer-metrics.ts';
import type { SigningAnswer, signProof } from '../sign-proof.ts';
import { reasonOf } from './presentations.ts';
import { readSigningBody } from './read-signing-body.ts';
import type { SignerAppParts } from './signer-app.ts';

/** `POST {base}/interns/{internId}/daemon/sign`: HTTP around `signProof`. */
export function signRoute(
  parts: SignerAppParts,
  metrics: SignerMetrics,
  sign: typeof signProof,
): Route['handler'] {
  const { origin } = new URL(parts.baseUrl);
  return async (req, res, { internId }) => {
    const exchange = exchangeOf(req);
    const { requestId, client, deadline, facts } = exchange;
    // Every answer to a proof brings the nonce for the next one: RFC 9449, section 8.2.
    const dpopNonce = req.headers['dpop'] === undefined ? undefined : parts.dpopNonces.current();
    let intern: string | undefined;
    try {
      const answer = await sign(
        {
          requestId,
          authority: client.authority,
          network: exchange.network,
          authorizations: valuesOf(req, 'authorization'),
          method: req.method ?? '',
          target: { origin, path: parseTarget(req.url)?.path ?? '' },
          dpopProofs: () => valuesOf(req, 'dpop'),
          internId: decodeInternId(internId),
          countFor: (account) => countFor(exchange, account),
          nameIntern(id) {
            intern = id;
          },
          readBody: () => readSigningBody(req, deadline),
          deadline,
        },
        parts,
      );
      send(res, answer, dpopNonce);
      facts['bound'] = answer.bound;
      metrics.proofIssued('x-ori-invoke-nonce' in answer.proof ? 'v2' : 'v1', answer.bound);
    } catch (error) {
      if (dpopNonce !== undefined && !res.headersSent) res.setHeader('DPoP-Nonce', dpopNonce);
      const reason = reasonOf(error);
      Object.assign(facts, { reason }, idsOf(exchange.account, intern));
      metrics.refused(reason);
      if (error instanceof DependencyError) metrics.dependencyFailed(error.dependency);
      throw error;
    }
  };
}

/** All headers at once: with one set before, Node takes 2 µs longer. */
function send(res: ServerResponse, { proof, turns }: SigningAnswer, dpopNonce: string | undefined): void {
  const body = JSON.stringify(proof);
  res.writeHead(200, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'Cache-Control': 'no-store',
    ...(dpopNonce !== undefined && { 'DPoP-Nonce': dpopNonce }),
    ...rateLimitHeaders(turns),
  });
  res.end(body);
}

/** An id that does not decode, or is not a valid intern id, becomes undefined; the gate refuses it. */
export function decodeInternId(segment: string | undefined): string | undefined {
  try {
    const id = decodeURIComponent(segment ?? '');
    return isInternId(id) ? id : undefined;
  } catch {
    return undefined;
  }
}

/** Whom the refusal concerns, as far as it was established, for support and incidents. */
function idsOf(subject: string | undefined, internId: string | undefined): Record<string, string> {
  return { ...(subject !== undefined && { subject }), ...(internId !== undefined && { internId }) };
}
