import { createPublicKey } from 'node:crypto';
import { createSigner, createVerifier, httpbis, type Request } from 'http-message-signatures';
import type { Contestant } from '../../contest.ts';
import { BODY, digestOf, FIELDS, PRIVATE_KEY, PUBLIC_JWK, REQUEST, requireRefusal } from '../proofs.ts';
import { nonceOf, rememberUses } from './uses.ts';

/** RFC 9421 over the fields of a proof: intern, method, path, type, user, and a Content-Digest (RFC 9530) of the body. */
export function openMessageSignatures(): Contestant {
  const signer = createSigner(PRIVATE_KEY, 'ed25519', 'k1');
  const verifier = createVerifier(createPublicKey({ key: PUBLIC_JWK, format: 'jwk' }), 'ed25519');
  const key = { id: 'k1', algs: ['ed25519'], verify: verifier };
  const config = {
    keyLookup: async ({ keyid }: { keyid?: string }) => (keyid === 'k1' ? key : null),
    ...{ requiredFields: FIELDS, requiredParams: ['created', 'nonce'], maxAge: 60, tolerance: 2 },
  };
  const use = rememberUses(config.maxAge + config.tolerance);
  const create = (): Promise<Request> =>
    httpbis.signMessage(
      {
        key: signer,
        fields: FIELDS,
        params: ['created', 'keyid', 'nonce'],
        paramValues: { nonce: crypto.randomUUID() },
      },
      REQUEST,
    );
  async function judge(request: Request, body: Uint8Array): Promise<void> {
    if (request.headers['content-digest'] !== `sha-256=:${digestOf(body)}:`) throw new Error('another body');
    if ((await httpbis.verifyMessage(config, request)) !== true) throw new Error('not verified');
    use(nonceOf(request.headers['Signature-Input'] ?? request.headers['signature-input']));
  }
  return {
    async prepare(count) {
      const requests = await Promise.all(Array.from({ length: count }, create));
      return async () => {
        for (const request of requests) await judge(request, BODY);
      };
    },
    async check() {
      const request = await create();
      await judge(request, BODY);
      await requireRefusal(() => judge(request, BODY));
      await requireRefusal(() => judge(request, Buffer.concat([BODY, BODY])));
      await requireRefusal(() => judge({ ...request, url: 'https://intern.example/other' }, BODY));
    },
  };
}
