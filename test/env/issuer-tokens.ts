import { randomBytes, randomUUID } from 'node:crypto';
import { CompactSign } from 'jose';
import type { IssuerAlgorithm, IssuerKey } from './issuer-keys.ts';

/** The contents of a token. Omitted members are as an honest issuer would set them. */
export interface TokenOptions {
  readonly subject?: string;
  readonly scope?: string;
  readonly expiresInSeconds?: number;
  /** Merged over the honest claims; `undefined` removes one. */
  readonly claims?: Record<string, unknown>;
  /** Merged over the honest header (`alg`, `kid`, `typ: at+jwt`); `undefined` removes a member. */
  readonly header?: Record<string, unknown>;
  /** The issuer's key to sign with, published or not: by kid, or the first of an algorithm. Default: the first. */
  readonly signWith?: IssuerAlgorithm | { readonly kid: string };
  /**
   * `none`: no signature; `hmac`: HS256 with the public key's JSON as secret; `garbage`: random bytes, under
   * the requested header.
   */
  readonly forge?: 'none' | 'hmac' | 'garbage';
}

interface Authority {
  readonly issuer: string;
  readonly audience: string;
  readonly keys: readonly IssuerKey[];
}

export async function mintToken(authority: Authority, options: TokenOptions): Promise<string> {
  const key = chooseKey(authority.keys, options.signWith);
  const algorithm = { none: 'none', hmac: 'HS256', garbage: key.algorithm } as const;
  const alg = options.forge ? algorithm[options.forge] : key.algorithm;
  const header = present({ alg, typ: 'at+jwt', kid: key.kid, ...options.header });
  const payload = new TextEncoder().encode(JSON.stringify(claims(authority, options)));
  if (options.forge === 'none') return `${unsigned(header, payload)}.`;
  if (options.forge === 'garbage') {
    return `${unsigned(header, payload)}.${randomBytes(64).toString('base64url')}`;
  }
  const secret = new TextEncoder().encode(JSON.stringify(key.publicJwk));
  return new CompactSign(payload)
    .setProtectedHeader({ ...header, alg: typeof header['alg'] === 'string' ? header['alg'] : alg })
    .sign(options.forge === 'hmac' ? secret : key.privateKey);
}

function claims(authority: Authority, options: TokenOptions): Record<string, unknown> {
  const now = Math.floor(Date.now() / 1000);
  return present({
    iss: authority.issuer,
    aud: authority.audience,
    sub: options.subject ?? 'ada',
    client_id: 'ori-cli',
    scope: options.scope ?? 'vault:read interns',
    iat: now,
    exp: now + (options.expiresInSeconds ?? 300),
    jti: randomUUID(),
    ...options.claims,
  });
}

function chooseKey(keys: readonly IssuerKey[], wanted: TokenOptions['signWith']): IssuerKey {
  const key = keys.find((candidate) => {
    if (wanted === undefined) return true;
    return typeof wanted === 'string' ? candidate.algorithm === wanted : candidate.kid === wanted.kid;
  });
  if (!key) throw new Error('unknown key of the issuer');
  return key;
}

function present(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function unsigned(header: Record<string, unknown>, payload: Uint8Array): string {
  const encoded = Buffer.from(JSON.stringify(header)).toString('base64url');
  return `${encoded}.${Buffer.from(payload).toString('base64url')}`;
}
