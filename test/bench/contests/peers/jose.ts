import { importJWK, jwtVerify, SignJWT } from 'jose';
import type { Contestant } from '../../contest.ts';
import { BODY, digestOf, INTERN_ID, PATH, PRIVATE_KEY, PUBLIC_JWK, requireRefusal } from '../proofs.ts';
import { rememberUses } from './uses.ts';

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
  async function judge(token: string, body: Uint8Array): Promise<void> {
    const { payload } = await jwtVerify(token, key, options);
    if (payload['digest'] !== digestOf(body) || payload['path'] !== PATH) throw new Error('another request');
    use(payload.jti);
  }
  return {
    async prepare(count) {
      const tokens = await Promise.all(Array.from({ length: count }, create));
      return async () => {
        for (const token of tokens) await judge(token, BODY);
      };
    },
    async check() {
      const token = await create();
      await judge(token, BODY);
      await requireRefusal(() => judge(token, BODY));
      await requireRefusal(() => judge(token, Buffer.concat([BODY, BODY])));
      await requireRefusal(() => judge(`${token.slice(0, -8)}AAAAAAAA`, BODY));
    },
  };
}
