import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { Contestant } from '../../contest.ts';
import { BODY, requireRefusal } from '../proofs.ts';

/** Standard Webhooks: an HMAC under a shared secret, without public keys. */
export function openWebhooks(): Contestant {
  const webhook = new Webhook(randomBytes(24).toString('base64'));
  const body = Buffer.from(BODY);
  function create(): Record<string, string> {
    const [id, at] = [crypto.randomUUID(), new Date()];
    return {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': webhook.sign(id, at, body),
    };
  }
  return {
    async prepare(count) {
      const requests = Array.from({ length: count }, create);
      return async () => {
        for (const headers of requests) webhook.verify(body, headers, { jsonParse: false });
      };
    },
    async check() {
      webhook.verify(body, create(), { jsonParse: false });
      await requireRefusal(() => webhook.verify(Buffer.concat([body, body]), create(), { jsonParse: false }));
    },
  };
}
