import type { ServerResponse } from 'node:http';
import { countFor, exchangeOf } from '@ori/http/exchange';
import { valuesOf } from '@ori/http/raw-headers';
import type { Route } from '@ori/http/routes';
import { parseTarget } from '@ori/http/target';
import type { DpopNonces } from '@ori/identity/dpop/nonces';
import { isInternId } from '@ori/proof/fields';
import { ALL_VERSIONS, PROOF_HEADERS, VERSIONS, type Version } from '@ori/proof/versions';
import { rateLimitHeaders } from '@ori/turns/rate-limit-headers';
import { DependencyError } from '../core/dependency-error.ts';
import type { SigningAnswer, SigningParts, signProof } from '../core/sign-proof.ts';
import { reasonOf } from './presentations.ts';
import { readSigningBody } from './read-signing-body.ts';
import type { SignerMetrics } from './signer-metrics.ts';

export interface SignRouteParts extends SigningParts {
  /** The public base address, without a trailing slash. */
  readonly baseUrl: string;
  readonly dpopNonces: DpopNonces;
  /** Whether a DPoP proof must cover the content of its request. */
  readonly requireContent: boolean;
}

/** `POST {base}/interns/{internId}/daemon/sign`: HTTP around `signProof`. */
export function signRoute(
  parts: SignRouteParts,
  metrics: SignerMetrics,
  sign: typeof signProof,
): Route['handler'] {
  const { origin } = new URL(parts.baseUrl);
  return async (req, res) => {
    const exchange = exchangeOf(req);
    const { requestId, client, deadline, facts } = exchange;
    // Every answer to a DPoP proof has the nonce for the next one: RFC 9449, section 8.2.
    const giveNonce = () => {
      if (req.headers['dpop'] !== undefined && !res.headersSent)
        res.setHeader('DPoP-Nonce', parts.dpopNonces.current());
    };
    let intern: string | undefined;
    let subject: string | undefined;
    try {
      const answer = await sign(
        {
          requestId,
          authority: client.authority,
          network: exchange.network,
          authorizations: valuesOf(req, 'authorization'),
          method: req.method ?? '',
          target: { origin, path: parseTarget(req.originalUrl)?.path ?? '' },
          dpopProofs: valuesOf(req, 'dpop'),
          internId: internIdIn(req.params),
          countFor(account, of) {
            subject = of;
            countFor(exchange, account);
          },
          nameIntern(id) {
            intern = id;
          },
          readBody: () => readSigningBody(req, deadline),
          deadline,
        },
        parts,
      );
      giveNonce();
      send(res, answer);
      facts['bound'] = answer.bound;
      metrics.proofIssued(newestIn(answer.proof), answer.bound);
    } catch (error) {
      giveNonce();
      const reason = reasonOf(error);
      // The caller and the intern, as far as they are known, for support and incidents.
      Object.assign(facts, { reason }, subject && { subject }, intern && { internId: intern });
      metrics.refused(reason);
      if (error instanceof DependencyError) metrics.dependencyFailed(error.dependency);
      throw error;
    }
  };
}

function send(res: ServerResponse, { proof, turns }: SigningAnswer): void {
  const body = JSON.stringify(proof);
  res.writeHead(200, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'Cache-Control': 'no-store',
    ...rateLimitHeaders(turns),
  });
  res.end(body);
}

/** The newest version whose signature is in the proof. */
export const newestIn = (proof: SigningAnswer['proof']): Version =>
  ALL_VERSIONS.filter((version) => PROOF_HEADERS[VERSIONS[version].signature] in proof).at(-1) ?? 1;

/** An id that does not decode, or is not a valid intern id, becomes undefined; the gate refuses it. */
export function internIdIn({ internId = '' }: Readonly<Record<string, string>>): string | undefined {
  return isInternId(internId) ? internId : undefined;
}
