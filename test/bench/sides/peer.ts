import { createHash, createPrivateKey, randomBytes } from 'node:crypto';
import rateLimit from '@fastify/rate-limit';
import fastify from 'fastify';
import { Redis } from 'ioredis';
import { createRemoteJWKSet, jwtVerify, SignJWT } from 'jose';
import { listen } from './listen.ts';

// A service built from well-known parts: Fastify, its rate limiter, jose for the session and for two signed JWTs.

const [pkcs8 = '', redisUrl = '', issuer = '', audience = ''] = process.argv.slice(2);
const key = createPrivateKey({ key: Buffer.from(pkcs8, 'base64'), format: 'der', type: 'pkcs8' });
const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
const redis = new Redis(redisUrl);
// Redis may stop first at the end of a run.
redis.on('error', () => {});

interface Body {
  readonly bodySha256: string;
  readonly route: { readonly method: string; readonly path: string };
}

const app = fastify();
await app.register(rateLimit, {
  max: 10_000_000,
  timeWindow: 60_000,
  redis,
  keyGenerator: (req) =>
    createHash('sha256')
      .update(req.headers.authorization ?? '')
      .digest('hex'),
});
app.post<{ Params: { internId: string }; Body: Body }>(
  '/v1/interns/:internId/daemon/sign',
  async (req, reply) => {
    const token = req.headers.authorization?.replace(/^Bearer /, '') ?? '';
    const { payload } = await jwtVerify(token, keys, { issuer, audience, typ: 'at+jwt' });
    if (!String(payload['scope']).split(' ').includes('vault:read')) return reply.code(403).send();
    const { internId } = req.params;
    const { bodySha256, route } = req.body;
    const nonce = randomBytes(16).toString('base64url');
    const reserved = await redis.set(`peer:${internId}:${nonce}`, '1', 'PX', 65_000, 'NX');
    if (reserved !== 'OK') return reply.code(500).send();
    const signed = (claims: Record<string, unknown>) =>
      new SignJWT({ internId, bodySha256, ...claims })
        .setProtectedHeader({ alg: 'EdDSA' })
        .setSubject(payload.sub ?? '')
        .setIssuedAt()
        .sign(key);
    const [v1, v2] = await Promise.all([signed({}), signed({ nonce, ...route })]);
    return { v1, v2 };
  },
);
await app.ready();
listen(app.routing);
