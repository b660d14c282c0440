import { createHash } from 'node:crypto';
import * as client from 'openid-client';
import { walkThrough } from './person.ts';

export interface SignInRequest {
  readonly issuer: string;
  readonly clientId: string;
  /** The API's base URL (RFC 8707 `resource`). */
  readonly resource: string;
  /** The demo member, by name. */
  readonly user: string;
  /** Space-separated; `offline_access` also brings a refresh token. */
  readonly scope: string;
  /** The key to bind the tokens to (DPoP); absent for bearer tokens. */
  readonly key?: client.CryptoKeyPair;
}

/** Nothing listens here: the scripted user returns the redirect instead of following it. */
const REDIRECT_URI = 'http://127.0.0.1/callback';

/** Signs a demo member in with the real code + PKCE flow over HTTP, with a scripted user at the provider's pages. */
export async function signIn(request: SignInRequest) {
  const { issuer, clientId, resource, user, scope, key } = request;
  const options = { execute: [client.allowInsecureRequests] };
  const provider = await client.discovery(new URL(issuer), clientId, undefined, client.None(), options);
  const verifier = client.randomPKCECodeVerifier();
  const state = client.randomState();
  const url = client.buildAuthorizationUrl(provider, {
    redirect_uri: REDIRECT_URI,
    scope,
    resource,
    state,
    prompt: 'consent',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const callback = await walkThrough(url, { user });
  if (callback === undefined) throw new Error('the sign-in ended without a redirect');
  const checks = { pkceCodeVerifier: verifier, expectedState: state };
  const proving = key === undefined ? {} : { DPoP: client.getDPoPHandle(provider, key) };
  const tokens = await client.authorizationCodeGrant(provider, callback, checks, { resource }, proving);
  const { access_token: accessToken, refresh_token: refreshToken } = tokens;
  return {
    accessToken,
    refreshToken,
    /** Sends a request to the API on behalf of the user, with a DPoP proof if the session is bound to a key. Default: POST. */
    send(url: string, body: string | undefined, method = 'POST'): Promise<Response> {
      const headers = new Headers(body === undefined ? {} : { 'content-type': 'application/json' });
      const proof =
        key === undefined ? {} : { DPoP: client.getDPoPHandle(provider, key, covering(body ?? '')) };
      return client
        .fetchProtectedResource(provider, accessToken, new URL(url), method, body, headers, proof)
        .catch((error) => {
          if (error instanceof client.WWWAuthenticateChallengeError) return error.response;
          throw error;
        });
    },
  };
}

export type SignedIn = Awaited<ReturnType<typeof signIn>>;

/** The DPoP proof also covers the content of the request, as the signer requires. */
function covering(body: string): client.ModifyAssertionOptions {
  const digest = createHash('sha256').update(body).digest('base64url');
  return {
    [client.modifyAssertion]: (_header, claims) => {
      claims['x-camara:bh'] = digest;
    },
  };
}
