import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createDpopKey, type DpopProofOptions, dpopHeaders } from '../env/dpop.ts';
import type { Ask, Reply } from '../env/http-client.ts';
import { SIGN_BODY, type World } from '../env/world.ts';

/** The secrets that were sent or received, by name, and the server's words, which must not reveal them to any client. */
export interface Evidence {
  readonly canaries: Record<string, string | Uint8Array>;
  /** Bodies and headers of all refusals. */
  readonly refusals: string[];
}

const canary = (name: string) => `${name}-${randomBytes(18).toString('base64url')}`;

/** Credentials of every kind, valid and invalid, each a canary. */
export async function plantCredentials({ issuer, demo }: World, { canaries }: Evidence): Promise<string[]> {
  const planted = {
    jwt: await issuer.token(),
    jwtOfNobody: await issuer.token({ subject: 'nobody' }),
    jwtWithoutScope: await issuer.token({ scope: 'interns' }),
    jwtWrongAudience: await issuer.token({ claims: { aud: 'https://other.example' } }),
    jwtExpired: await issuer.token({ claims: { exp: 1 } }),
    jwtUnknownKid: await issuer.token({ header: { kid: canary('kid') } }),
    jwtForged: await issuer.token({ forge: 'garbage' }),
    jwtUnsigned: await issuer.token({ forge: 'none' }),
    jwtStrangeSubject: await issuer.token({ subject: `grace hopper,${canary('subject')}` }),
    opaque: issuer.opaqueToken(),
    opaqueWithoutScope: issuer.opaqueToken({ scope: 'interns' }),
    opaqueUnknown: randomBytes(24).toString('base64url'),
    apiKey: demo.apiKey,
    apiKeyOfNobody: `sk-ori-v1-${randomBytes(32).toString('hex')}`,
    apiKeyMalformed: `sk-${randomBytes(24).toString('base64url')}`,
    junk: `${canary('junk')}§`,
    long: randomBytes(6500).toString('base64url'),
  };
  for (const [name, token] of Object.entries(planted)) {
    // A JWT's header is not secret; its claims and signature are.
    const [whole = '', claims, signature] = token.split('.');
    const round = Object.keys(canaries).length;
    if (claims === undefined) canaries[`${name} ${round}`] = whole;
    else canaries[`${name}, claims ${round}`] = claims;
    if (signature) canaries[`${name}, signature ${round}`] = signature;
  }
  return Object.values(planted);
}

/** Requests with a canary everywhere a client can put one. */
export function oddRequests(world: World, bearer: string, { canaries }: Evidence): Ask[] {
  const plant = (name: string) => {
    canaries[name] = canary(name);
    return canaries[name];
  };
  const headers = ['Authorization', `Bearer ${bearer}`, 'Content-Type', 'application/json'];
  const good = { method: 'POST', path: world.signPath, headers, body: SIGN_BODY };
  const dpop = (proof: string) => dpopHeaders(bearer, proof);
  const more = (name: string, value: string) => ({ ...good, headers: [...headers, name, value] });
  return [
    { ...good, headers: dpop(plant('dpopProof')) },
    { ...good, headers: dpop(`${plant('dpopHeader')}.${plant('dpopClaims')}.${plant('dpopSignature')}`) },
    { ...good, body: `{"bodySha256":"${plant('bodyValue')}"}` },
    { ...good, body: SIGN_BODY.replace('{', `{"${plant('bodyKey')}":1,`) },
    { ...good, body: `${SIGN_BODY} ${plant('bodyTail')}` },
    { ...good, body: SIGN_BODY.replace('/api/invoke', `/api/#${plant('bodyPath')}`) },
    { ...good, body: randomBytes(64) },
    { ...good, path: `${world.signPath}?access_token=${plant('query')}` },
    { ...good, method: 'PUT', body: plant('putBody') },
    { ...good, path: `/v1/${plant('path')}` },
    { ...good, path: `/v1/interns/${plant('intern')}/daemon/sign` },
    { ...good, method: 'GET', path: `/.well-known/${plant('wellKnown')}` },
    { ...good, headers: ['Authorization', `Basic ${plant('basic')}`] },
    { ...good, headers: ['Authorization', `Bearer ${bearer}`, 'Content-Type', `text/${plant('mediaType')}`] },
    more('Content-Encoding', plant('coding')),
    more('Cookie', `session=${plant('cookie')}`),
    more('X-Ori-Invoke-Signature', plant('oriHeader')),
    more('X-Request-Id', plant('requestId')),
    more('Expect', plant('expect')),
    more('Host', plant('host')),
    more('HTTP-Referer', plant('referer')),
    more('Authorization', `Bearer ${plant('second')}`),
    more('X-Long', `${plant('oversize')}${'x'.repeat(30_000)}`),
  ].map((ask) => ({ ...ask, headers: [...ask.headers, 'Connection', 'close'] }));
}

/** Requests of a session bound to a key: a valid DPoP proof, its replay, and mismatched proofs. All are canaries. */
export async function sendBound(world: World, evidence: Evidence): Promise<Reply[]> {
  const key = await createDpopKey();
  const accessToken = await world.issuer.token({ claims: { cnf: { jkt: key.thumbprint } } });
  const url = new URL(world.signPath, world.baseUrl).href;
  const send = async (proof: string) => {
    const round = Object.keys(evidence.canaries).length;
    for (const [index, part] of proof.split('.').entries())
      evidence.canaries[`DPoP proof ${round}.${index}`] = part;
    const headers = [...dpopHeaders(accessToken, proof), 'Content-Type', 'application/json'];
    const reply = await world.http.ask({ method: 'POST', path: world.signPath, headers, body: SIGN_BODY });
    return keep(reply, evidence);
  };
  const { claims, signature } = tokenParts(accessToken);
  const round = Object.keys(evidence.canaries).length;
  Object.assign(evidence.canaries, {
    [`boundTokenClaims ${round}`]: claims,
    [`boundTokenSignature ${round}`]: signature,
    [`dpopPrivateKey ${round}`]: key.privateJwk.d,
    [`dpopPublicKey ${round}`]: key.publicJwk.x,
  });
  const proofOf = (options: Pick<DpopProofOptions, 'url' | 'nonce' | 'header'>) =>
    key.proof({ accessToken, content: SIGN_BODY, ...options });
  const challenge = await send(await proofOf({ url }));
  const nonce = String(challenge.headers['dpop-nonce']);
  const good = await proofOf({ url, nonce });
  return [
    await send(good),
    await send(good),
    await send(await proofOf({ url: `${url}/other`, nonce })),
    await send(await proofOf({ url, nonce, header: { jwk: key.privateJwk } })),
  ];
}

function tokenParts(token: string): { claims: string; signature: string } {
  const [, claims = '', signature = ''] = token.split('.');
  return { claims, signature };
}

/**
 * Sends requests, so many milliseconds apart, and records each response: the signatures of a proof as canaries, or the
 * text of a refusal.
 */
export function sendAll(
  world: World,
  asks: readonly Ask[],
  evidence: Evidence,
  everyMs = 0,
): Promise<Reply[]> {
  const replies = asks.map(async (ask, index) => {
    await pause(index * everyMs);
    return keep(await world.http.ask(ask), evidence);
  });
  return Promise.all(replies);
}

function keep(reply: Reply, { canaries, refusals }: Evidence): Reply {
  if (reply.status !== 200) {
    refusals.push(`${reply.text} ${JSON.stringify(reply.headers)}`);
    return reply;
  }
  const proof = JSON.parse(reply.text) as Record<string, string>;
  for (const name of ['x-ori-invoke-signature', 'x-ori-invoke-signature-v2']) {
    const signature = proof[name];
    const key = `signature ${Object.keys(canaries).length}`;
    if (signature) canaries[key] = Buffer.from(signature, 'base64');
    if (signature) canaries[`${key}, as text`] = signature;
  }
  return reply;
}

export function credentialRequests(world: World, bearers: readonly string[]): Ask[] {
  return bearers.map((bearer) => ({
    method: 'POST',
    path: world.signPath,
    headers: ['Authorization', `Bearer ${bearer}`, 'Content-Type', 'application/json'],
    body: SIGN_BODY,
  }));
}
