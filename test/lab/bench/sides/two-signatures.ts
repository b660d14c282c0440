import { createPrivateKey, sign } from 'node:crypto';

/** The body of a signing request, after `express.json()`. */
export interface SignBody {
  readonly bodySha256: string;
  readonly route: { readonly method: string; readonly path: string };
}

const user = 'ada';
const netstring = (field: string) => `${field.length}:${field},`;

/** Makes the response of the sign route with two Ed25519 signatures of `node:crypto`. It checks nothing. */
export function twoSignatures(pkcs8: string) {
  const key = createPrivateKey({ key: Buffer.from(pkcs8, 'base64'), format: 'der', type: 'pkcs8' });
  const signed = (fields: string[]) =>
    sign(null, Buffer.from(fields.map(netstring).join('')), key).toString('base64');
  return (internId: string, { bodySha256, route }: SignBody, nonce: string) => {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const v1 = ['ori-invoke-v1', internId, timestamp, user, bodySha256];
    const v2 = ['ori-invoke-v2', internId, timestamp, nonce, user, route.method, route.path, bodySha256];
    return {
      'x-ori-invoke-signature': signed(v1),
      'x-ori-invoke-timestamp': timestamp,
      'x-ori-invoke-user': user,
      'x-ori-invoke-signature-v2': signed(v2),
      'x-ori-invoke-nonce': nonce,
    };
  };
}
