import { createRemoteKeySet, createVerifier, memoryReplayStore, toRefusal } from '@ori/verifier';

const keys = createRemoteKeySet('https://ori.example/v1/interns/int_7Qm2/daemon/jwks.json');
const verifier = createVerifier({ internId: 'int_7Qm2', keys, replay: memoryReplayStore() });

export async function handler({ requestContext, rawPath, rawQueryString, headers, body = '', isBase64Encoded }) {
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  const target = rawQueryString === '' ? rawPath : `${rawPath}?${rawQueryString}`;
  const rawHeaders = Object.entries(headers).flat();
  try {
    const { method } = requestContext.http;
    const proof = await verifier.verify({ method, target, rawHeaders, body: bytes });
    return { statusCode: 200, body: JSON.stringify({ user: proof.user, prompt: JSON.parse(bytes).prompt }) };
  } catch (error) {
    const refusal = toRefusal(error);
    if (refusal === undefined) throw error;
    return { statusCode: refusal.status, headers: refusal.headers, body: refusal.body };
  }
}
