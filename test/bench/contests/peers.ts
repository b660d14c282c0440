import { createPublicKey, hash, randomBytes, sign } from 'node:crypto';
import { createSigner, createVerifier, httpbis } from 'http-message-signatures';
import { importJWK, jwtVerify, SignJWT } from 'jose';
import { Webhook } from 'standardwebhooks';
import { generateNonce, signatureHeadersSync, verify } from 'web-bot-auth';
import { verifierFromJWK } from 'web-bot-auth/crypto';
import { type Contestant, judging } from '../contest.ts';
import { BODY, INTERN_ID, PATH, PRIVATE_KEY, PUBLIC_JWK } from '../proofs.ts';

const OTHER_BODY = Buffer.concat([BODY, BODY]);
const digestOf = (body: Uint8Array) => hash('sha256', body, 'base64');

/** The replay protection that a daemon must add to a library that only verifies: refuses what was accepted before. */
function rememberUses(seconds: number): (id: unknown) => void {
  const expiries = new Map<string, number>();
  return (id) => {
    const now = Date.now();
    for (const [known, expiry] of expiries) {
      if (expiry > now) break;
      expiries.delete(known);
    }
    if (typeof id !== 'string' || expiries.has(id)) throw new Error('used before');
    expiries.set(id, now + seconds * 1000);
  };
}

/** A JWT (EdDSA) with claims for the body's digest and the path. */
export async function openJose(): Promise<Contestant> {
  const key = await importJWK(PUBLIC_JWK, 'EdDSA');
  const options = { algorithms: ['EdDSA'], audience: INTERN_ID, maxTokenAge: 60, clockTolerance: 2 };
  const use = rememberUses(options.maxTokenAge + options.clockTolerance);
  const create = () =>
    new SignJWT({ path: PATH, digest: digestOf(BODY) })
      .setProtectedHeader({ alg: 'EdDSA' })
      .setSubject('ada')
      .setAudience(INTERN_ID)
      .setIssuedAt()
      .setJti(crypto.randomUUID())
      .sign(PRIVATE_KEY);
  return judging(
    async () => ({ token: await create(), body: BODY }),
    async ({ token, body }) => {
      const { payload } = await jwtVerify(token, key, options);
      if (payload['digest'] !== digestOf(body) || payload['path'] !== PATH)
        throw new Error('another request');
      use(payload.jti);
    },
    (accepted, { token }) => [
      accepted,
      { token, body: OTHER_BODY },
      { token: `${token.slice(0, -8)}AAAAAAAA`, body: BODY },
    ],
  );
}

/** A request whose `Content-Digest` (RFC 9530) binds the body, for protocols that sign header fields. */
const REQUEST = {
  method: 'POST',
  url: 'https://intern.example/api/invoke',
  headers: {
    host: 'intern.example',
    accept: '*/*',
    'user-agent': 'ori/0.1.0',
    'content-type': 'application/json',
    'content-length': String(BODY.length),
    'x-user': 'ada',
    'content-digest': `sha-256=:${digestOf(BODY)}:`,
  } as Record<string, string>,
};
const FIELDS = ['@authority', '@method', '@path', 'content-type', 'content-digest', 'x-user'];

interface Message {
  readonly request: typeof REQUEST;
  readonly body: Uint8Array;
}

/** RFC 9421 over the fields of a proof: intern, method, path, type, user, and a Content-Digest of the body. */
function judgingMessages(
  create: () => Promise<Record<string, string>>,
  verifyRequest: (request: typeof REQUEST) => Promise<unknown>,
): Contestant {
  const use = rememberUses(62);
  return judging<Message>(
    async () => ({
      request: { ...REQUEST, headers: { ...REQUEST.headers, ...(await create()) } },
      body: BODY,
    }),
    async ({ request, body }) => {
      if (request.headers['content-digest'] !== `sha-256=:${digestOf(body)}:`)
        throw new Error('another body');
      await verifyRequest(request);
      use(/;nonce="([^"]+)"/.exec(request.headers['signature-input'] ?? '')?.[1]);
    },
    (accepted, { request }) => [
      accepted,
      { request, body: OTHER_BODY },
      { request: { ...request, url: 'https://intern.example/other' }, body: BODY },
    ],
  );
}

export function openMessageSignatures(): Contestant {
  const signer = createSigner(PRIVATE_KEY, 'ed25519', 'k1');
  const verifier = createVerifier(createPublicKey({ key: PUBLIC_JWK, format: 'jwk' }), 'ed25519');
  const key = { id: 'k1', algs: ['ed25519'], verify: verifier };
  const config = {
    keyLookup: async ({ keyid }: { keyid?: string }) => (keyid === 'k1' ? key : null),
    requiredFields: FIELDS,
    requiredParams: ['created', 'nonce'],
    maxAge: 60,
    tolerance: 2,
  };
  return judgingMessages(
    async () => {
      const params = ['created', 'keyid', 'nonce'];
      const paramValues = { nonce: crypto.randomUUID() };
      const signed = await httpbis.signMessage({ key: signer, fields: FIELDS, params, paramValues }, REQUEST);
      const { Signature: signature, 'Signature-Input': input } = signed.headers;
      return { signature: String(signature), 'signature-input': String(input) };
    },
    async (request) => {
      if ((await httpbis.verifyMessage(config, request)) !== true) throw new Error('not verified');
    },
  );
}

/** Web Bot Auth, a profile of RFC 9421. */
export async function openWebBotAuth(): Promise<Contestant> {
  const verifier = await verifierFromJWK(PUBLIC_JWK);
  const signer = {
    alg: 'ed25519' as const,
    keyid: 'k1',
    signSync: (data: string) => new Uint8Array(sign(null, Buffer.from(data), PRIVATE_KEY)),
  };
  return judgingMessages(
    async () => {
      const signed = signatureHeadersSync(REQUEST, signer, {
        created: new Date(Date.now() - 1000),
        expires: new Date(Date.now() + 60_000),
        nonce: generateNonce(),
        components: FIELDS,
      });
      return { signature: signed.Signature, 'signature-input': signed['Signature-Input'] };
    },
    (request) => verify(request, verifier),
  );
}

/** Standard Webhooks: an HMAC under a shared secret, without public keys. */
export function openWebhooks(): Contestant {
  const webhook = new Webhook(randomBytes(24).toString('base64'));
  const body = Buffer.from(BODY);
  return judging(
    () => {
      const [id, at] = [crypto.randomUUID(), new Date()];
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': webhook.sign(id, at, body),
      };
      return { headers, body };
    },
    ({ headers, body }) => webhook.verify(body, headers, { jsonParse: false }),
    (_, { headers }) => [{ headers, body: OTHER_BODY }],
  );
}
