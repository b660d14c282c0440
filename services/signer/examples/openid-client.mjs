import * as client from 'openid-client';
import { contentHash } from './content-hash.mjs';
export async function sign(config, keyPair, accessToken, url, content) {
  const DPoP = client.getDPoPHandle(config, keyPair, {
    [client.modifyAssertion]: (_header, claims) => { claims['x-camara:bh'] = contentHash(content); },
  });
  const headers = new Headers({ 'content-type': 'application/json' });
  return client.fetchProtectedResource(config, accessToken, url, 'POST', content, headers, { DPoP });
}
