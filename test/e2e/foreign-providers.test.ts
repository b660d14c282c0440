import { decodeProtectedHeader } from 'jose';
import * as client from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../env/ports.ts';
import type { World } from '../env/world.ts';
import { runOri, startOri } from './cli-in-process.ts';
import type { OriHome } from './cli-process.ts';
import { FOREIGN_PROVIDERS, type ForeignProvider, type ForeignRequest } from './foreign-providers.ts';
import { issuersFile, startProviderWorld } from './provider-world.ts';

/** Nothing listens here: the visit ends with the redirect. */
const REDIRECT_URI = 'http://127.0.0.1/callback';

for (const { name, missing } of FOREIGN_PROVIDERS) {
  if (missing !== undefined) process.stderr.write(`foreign providers: without ${name}: ${missing}\n`);
}

describe.each(FOREIGN_PROVIDERS.filter(({ missing }) => missing === undefined))('$name', ({ start }) => {
  const stack = new AsyncDisposableStack();
  let provider: ForeignProvider;
  let world: World;
  let home: OriHome;

  beforeAll(async () => {
    const port = await freePort();
    provider = stack.use(await start(`http://127.0.0.1:${port}/v1`));
    const file = await issuersFile(stack, provider);
    ({ world, home } = await startProviderWorld(stack, { ...provider, port, file }));
    // Keycloak builds itself at its first start.
  }, 300_000);
  afterAll(() => stack.disposeAsync());

  const call = () => runOri(home, ['call', world.demo.internId, '/api/invoke', '--data', '{}']);

  async function tokensFor({ clientId, scope, resource }: ForeignRequest) {
    const options = { execute: [client.allowInsecureRequests] };
    const config = await client.discovery(
      new URL(provider.issuer),
      clientId,
      undefined,
      client.None(),
      options,
    );
    const pkceCodeVerifier = client.randomPKCECodeVerifier();
    const indicator = resource === undefined ? {} : { resource };
    const nonce = client.randomNonce();
    const code_challenge = await client.calculatePKCECodeChallenge(pkceCodeVerifier);
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT_URI,
      scope,
      code_challenge,
      code_challenge_method: 'S256',
      nonce,
      ...indicator,
    });
    const callback = await provider.visit(url);
    return client.authorizationCodeGrant(
      config,
      callback,
      { pkceCodeVerifier, expectedNonce: nonce },
      indicator,
    );
  }

  test('a person signs in, calls an intern, again with a renewed token, and signs out', async () => {
    // Shows the terms, which --trust then takes.
    await runOri(home, ['login', '--no-browser', '--timeout', '1']);
    const login = startOri(home, ['login', '--no-browser', '--trust']);
    const [, url = ''] = await login.told(/sign in:\n {2}(\S+)\n/);
    await fetch(await provider.visit(new URL(url)));
    expect(await login.result).toMatchObject({ exit: 0 });
    const called = { exit: 0, stdout: JSON.stringify({ user: provider.subject }) };
    expect(await call()).toMatchObject(called);

    const first = await home.session();
    await home.changeSession({ expires_at: 1 });
    expect(await call()).toMatchObject(called);
    const { access_token: renewed, key_thumbprint } = await home.session();
    expect(renewed).not.toBe(first.access_token);

    // The session is bound to a key of this computer: its tokens alone are worth nothing.
    expect(key_thumbprint).toMatch(/^[\w-]{43}$/);
    expect((await world.sign({ bearer: renewed })).status).toBe(401);
    const { refusesRevocation } = provider;
    const told = { exit: 6, stderr: expect.stringContaining('did not revoke the session') };
    expect(await runOri(home, ['logout'])).toMatchObject(refusesRevocation ? told : { exit: 0 });
    expect((await call()).exit).not.toBe(0);
  });

  test('a token for this API signs, one for another API does not, nor does an ID token', async () => {
    const { access_token: bearer, id_token: idToken = '' } = await tokensFor(provider.requests.own);
    expect((await world.sign({ bearer })).status).toBe(200);
    expect((await world.sign({ bearer: idToken })).status).toBe(401);
    const { access_token: foreign } = await tokensFor(provider.requests.foreign);
    expect((await world.sign({ bearer: foreign })).status).toBe(401);
  });

  test('a token signs until it expires', async () => {
    const { access_token: bearer } = await tokensFor(provider.requests.brief);
    expect((await world.sign({ bearer })).status).toBe(200);
    // Facts that are cached decide until they are forgotten, and name no claim.
    const said = async () => [(await world.sign({ bearer })).status, world.signer.output.at(-1)];
    await expect.poll(said, { interval: 200 }).toEqual([401, expect.stringContaining('refused for its exp')]);
  });

  test('a token under a new key signs, and so does one under the former', async () => {
    const former = (await tokensFor(provider.requests.own)).access_token;
    await provider.rotateKey?.();
    const { access_token: bearer } = await tokensFor(provider.requests.own);
    const isNew = decodeProtectedHeader(bearer).kid !== decodeProtectedHeader(former).kid;
    expect(isNew).toBe(provider.rotateKey !== undefined);
    // The keys of an issuer are fetched at most every five seconds.
    await expect.poll(async () => (await world.sign({ bearer })).status, { interval: 200 }).toBe(200);
    expect((await world.sign({ bearer: former })).status).toBe(200);
  });
});
