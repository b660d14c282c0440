import { createHash } from 'node:crypto';
import { sendEnvelope } from '@ori/http/envelope';
import { exchangeOf } from '@ori/http/exchange';
import { isMatch } from '@ori/http/if-none-match';
import type { Route } from '@ori/http/routes';
import { renderJwkSet } from '@ori/proof';
import type { PublishedKeyRow } from '@ori/store';
import type { SigningParts } from '../sign-proof.ts';
import { checkHost } from '../stages/check-host.ts';
import { NOT_FOUND } from './presentations.ts';
import { decodeInternId } from './sign-route.ts';

export interface JwksParts extends Pick<SigningParts, 'atWork'> {
  readonly regionalHosts: ReadonlySet<string>;
  publishedKeys(internId: string): readonly PublishedKeyRow[] | Promise<readonly PublishedKeyRow[]>;
}

/**
 * `GET {base}/interns/{internId}/daemon/jwks.json`: the intern's public keys, public. An unknown id gets an empty set,
 * like an intern without a key.
 */
export function jwksRoute({ regionalHosts, publishedKeys, atWork }: JwksParts): Route['handler'] {
  return async (req, res, { internId }) => {
    const { client, network, deadline } = exchangeOf(req);
    checkHost(client.authority, regionalHosts);
    const id = decodeInternId(internId);
    if (id === undefined) return sendEnvelope(res, NOT_FOUND);
    const rows = await atWork(`network ${network}`, deadline, async () => publishedKeys(id));
    const body = JSON.stringify(
      renderJwkSet(
        rows.map(({ publicKey, notBefore, expiresAt }) => ({
          publicKey,
          notBefore,
          ...(expiresAt === null ? {} : { expiresAt }),
        })),
      ),
    );
    const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
    const headers = { ETag: etag, 'Cache-Control': 'public, max-age=60' };
    if (isMatch(req.headers['if-none-match'], etag)) {
      res.writeHead(304, headers).end();
      return;
    }
    res.writeHead(200, { ...headers, 'Content-Type': 'application/json', 'Content-Length': body.length });
    res.end(req.method === 'HEAD' ? undefined : body);
  };
}
