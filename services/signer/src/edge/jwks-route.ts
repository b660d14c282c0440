import { createHash } from 'node:crypto';
import { sendEnvelope } from '@ori/http/envelope';
import { exchangeOf } from '@ori/http/exchange';
import { isMatch } from '@ori/http/if-none-match';
import type { Route } from '@ori/http/routes';
import { KEY_SET_HEADER } from '@ori/proof/headers';
import { renderJwkSet } from '@ori/proof/jwk-set';
import type { PublishedKeyRow, PublishedKeys } from '@ori/store/signer';
import { DependencyError } from '../core/dependency-error.ts';
import type { SigningParts } from '../core/sign-proof.ts';
import { checkHost } from '../core/stages/check-host.ts';
import type { KeySetRoles } from '../keys/freshness.ts';
import { NOT_FOUND } from './presentations.ts';
import { internIdIn } from './sign-route.ts';

export interface JwksParts extends Pick<SigningParts, 'atWork' | 'now'> {
  /** Absent in a deployment without a root. */
  readonly roles?: Pick<KeySetRoles, 'member' | 'state'> | undefined;
  readonly regionalHosts: ReadonlySet<string>;
  publishedKeys(internId: string): PublishedKeys | Promise<PublishedKeys>;
  /** Resolves once the audit file has these keys. @throws DependencyError `audit` */
  recordKeys(internId: string, keys: readonly PublishedKeyRow[]): Promise<void>;
}

/**
 * `GET {base}/interns/{internId}/daemon/jwks.json`: the intern's public keys, without authentication. An unknown
 * id gets an empty set, like an intern without a key.
 */
export function jwksRoute({
  regionalHosts,
  publishedKeys,
  recordKeys,
  atWork,
  roles,
  now,
}: JwksParts): Route['handler'] {
  return async (req, res) => {
    const { client, network, deadline } = exchangeOf(req);
    checkHost(client.authority, regionalHosts);
    const id = internIdIn(req.params);
    if (id === undefined) return sendEnvelope(res, NOT_FOUND);
    const published = await atWork(`network ${network}`, deadline, async () => publishedKeys(id));
    const at = now();
    const member = roles?.member(at);
    const shown = keysToShow(published, member);
    await recordKeys(id, shown.keys);
    const body = renderSet(shown, member);
    const digest = createHash('sha256').update(body).digest();
    const etag = `"${digest.toString('base64url')}"`;
    const headers = {
      ETag: etag,
      'Cache-Control': `public, max-age=${roles ? ROOTED_MAX_AGE : 60}`,
      ...(roles && { [KEY_SET_HEADER]: roles.state(id, at, digest.toString('hex')) }),
    };
    if (isMatch(req.headers['if-none-match'], etag)) {
      res.writeHead(304, headers).end();
      return;
    }
    res.writeHead(200, { ...headers, 'Content-Type': 'application/json', 'Content-Length': body.length });
    res.end(req.method === 'HEAD' ? undefined : body);
  };
}

/** Half of the time for which a daemon that pins a root accepts the statement of a set. */
const ROOTED_MAX_AGE = 30;

/**
 * In a deployment with a root, omits keys without a statement, because a daemon would refuse the whole set.
 *
 * @throws DependencyError `roles` if the keys have statements and this signer has no role
 */
function keysToShow(published: PublishedKeys, member: object | undefined): PublishedKeys {
  const keys = published.keys.filter(({ statement }) => statement !== null);
  if (member === undefined && keys.length > 0)
    throw new DependencyError(
      'roles',
      'the keys of this intern need a statement, and no freshness key is set',
    );
  const answerKeys = published.answerKeys.filter(({ statement }) => statement !== undefined);
  return member === undefined ? published : { keys, answerKeys };
}

function renderSet({ keys: rows, answerKeys }: PublishedKeys, member: object | undefined): string {
  const { keys } = renderJwkSet(
    rows.map(({ publicKey, notBefore, expiresAt }) => ({
      publicKey,
      notBefore,
      ...(expiresAt === null ? {} : { expiresAt }),
    })),
  );
  const statements = rows.map(({ statement }) => statement);
  return JSON.stringify({
    keys,
    ...(answerKeys.length > 0 && { 'ori.answers': answerKeys }),
    ...(member && { ori: { ...member, statements } }),
  });
}
