import { sign } from 'node:crypto';
import { generateNonce, signatureHeadersSync, verify } from 'web-bot-auth';
import { verifierFromJWK } from 'web-bot-auth/crypto';
import type { Contestant } from '../../contest.ts';
import { BODY, digestOf, FIELDS, PRIVATE_KEY, PUBLIC_JWK, REQUEST, requireRefusal } from '../proofs.ts';
import { nonceOf, rememberUses } from './uses.ts';

interface Message {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
}

/** Web Bot Auth, a profile of RFC 9421, over the fields of a proof, with a Content-Digest (RFC 9530) of the body. */
export async function openWebBotAuth(): Promise<Contestant> {
  const verifier = await verifierFromJWK(PUBLIC_JWK);
  const signer = {
    alg: 'ed25519' as const,
    keyid: 'k1',
    signSync: (data: string) => new Uint8Array(sign(null, Buffer.from(data), PRIVATE_KEY)),
  };
  const use = rememberUses(60);
  function create(): Message {
    const signed = signatureHeadersSync(REQUEST, signer, {
      created: new Date(Date.now() - 1000),
      expires: new Date(Date.now() + 60_000),
      nonce: generateNonce(),
      components: FIELDS,
    });
    const { Signature: signature, 'Signature-Input': input } = signed;
    return { ...REQUEST, headers: { ...REQUEST.headers, signature, 'signature-input': input } };
  }
  async function judge(message: Message, body: Uint8Array): Promise<void> {
    if (message.headers['content-digest'] !== `sha-256=:${digestOf(body)}:`) throw new Error('another body');
    await verify(message, verifier);
    use(nonceOf(message.headers['signature-input']));
  }
  return {
    async prepare(count) {
      const messages = Array.from({ length: count }, create);
      return async () => {
        for (const message of messages) await judge(message, BODY);
      };
    },
    async check() {
      const message = create();
      await judge(message, BODY);
      await requireRefusal(() => judge(message, BODY));
      await requireRefusal(() => judge(message, Buffer.concat([BODY, BODY])));
      await requireRefusal(() => judge({ ...message, url: 'https://intern.example/other' }, BODY));
    },
  };
}
