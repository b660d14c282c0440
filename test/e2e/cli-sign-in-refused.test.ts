import { afterEach, beforeEach, expect, it } from 'vitest';
import { adviceForOauthCode, OAUTH_CODES } from '../../services/ori/src/core/failures/oauth-codes.ts';
import { startOri } from './cli-in-process.ts';
import { makeOriHome, type OriHome } from './cli-process.ts';
import { type ScriptedIssuer, startScriptedIssuer } from './cli-scripted-issuer.ts';
import { listen, send } from './cli-world.ts';

let api: Awaited<ReturnType<typeof listen>>;
let issuer: ScriptedIssuer;
let home: OriHome;

beforeEach(async () => {
  issuer = await startScriptedIssuer();
  api = await listen((_req, res) =>
    send(res, {
      status: 200,
      body: {
        resource: `${api.url}/v1`,
        authorization_servers: [issuer.url],
        scopes_supported: ['vault:read'],
      },
    }),
  );
  home = await makeOriHome({ ORI_BASE_URL: `${api.url}/v1` });
});
afterEach(async () => {
  await home[Symbol.asyncDispose]();
  await api.stop();
  await issuer[Symbol.asyncDispose]();
});

/** Follows the redirect, and returns what `ori login` asked for, and how it ended. */
async function follow(changes: Record<string, string | undefined> = {}, args: string[] = []) {
  const login = startOri(home, ['login', '--no-browser', ...args]);
  const [, url = ''] = await login.told(/sign in:\n {2}(\S+)\n/);
  await fetch(issuer.redirectOf(url, changes));
  return { asked: new URL(url).searchParams, ...(await login.result) };
}

/** `ori login` of an issuer that a sign-in does not begin at. */
const refused = () => startOri(home, ['login', '--no-browser']).result;

it.each(OAUTH_CODES.filter((code) => code !== 'expired_token'))(
  'what the issuer refuses is told as its refusal, with what to change: %s',
  async (error) => {
    const { exit, stderr } = await follow({ code: undefined, error, error_description: 'Said so.' });
    expect(exit).toBe(4);
    expect(stderr).toContain(`The issuer refused the sign-in: ${error}: Said so.`);
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(adviceForOauthCode(error));
    expect(stderr).not.toMatch(/try again/i);
  },
);

it('a refusal beside a challenge is told with its code and description', async () => {
  issuer.tokenAnswers.push({
    status: 401,
    headers: { 'www-authenticate': 'Basic realm="x"' },
    body: { error: 'invalid_client', error_description: 'No such client.' },
  });
  const { exit, stderr } = await follow();
  expect(exit).toBe(4);
  expect(stderr).toContain('The issuer refused the sign-in: invalid_client: No such client.');
});

it('sends each parameter once, although the endpoint has some of its own', async () => {
  const own = 'prompt=select_account&resource=other&tenant=7';
  issuer.metadata = { authorization_endpoint: `${issuer.url}/authorize?${own}` };
  const { asked } = await follow();
  expect(asked.getAll('prompt')).toEqual(['select_account consent']);
  expect(asked.getAll('resource')).toEqual([`${api.url}/v1`]);
  expect(asked.get('tenant')).toBe('7');
});

it('an issuer without an authorization endpoint offers no sign-in with a browser', async () => {
  issuer.metadata = { authorization_endpoint: undefined };
  const { exit, stderr } = await refused();
  expect(exit).toBe(4);
  expect(stderr).toContain('does not offer a sign-in with a browser');
  expect(stderr).toContain('ori login --device');
});

it('an address without a discovery document is no OpenID provider', async () => {
  await using absent = await listen((_req, res) => send(res, { status: 404 }));
  await using other = await listen((_req, res) =>
    send(res, { status: 200, body: { resource: `${other.url}/v1`, authorization_servers: [absent.url] } }),
  );
  const { exit, stderr } = await startOri(home, ['--base-url', `${other.url}/v1`, 'login', '--no-browser'])
    .result;
  expect(exit).toBe(4);
  expect(stderr).toContain(`There is no OpenID provider at ${absent.url}`);
});

it('an issuer of another name is told with both names', async () => {
  issuer.metadata = { issuer: 'https://other.test' };
  const { stderr } = await refused();
  expect(stderr).toContain(`(https://other.test instead of ${issuer.url}`);
});

it('an ID token for others too is told with the claim and its audiences', async () => {
  issuer.idToken = { claims: { aud: ['ori-cli', 'https://api.test'] } };
  expect((await follow()).stderr).toContain('ori-cli, https://api.test');
});

it('names the redirect address where none came back', async () => {
  const { stderr } = await startOri(home, ['login', '--no-browser', '--timeout', '1']).result;
  expect(stderr).toMatch(/allow http:\/\/127\.0\.0\.1:\d+\/callback/);
  expect(stderr).toContain('signIn.redirectPort');
});

it('--fresh takes no sign-in that the issuer remembers, and asks for another', async () => {
  const now = Math.floor(Date.now() / 1000);
  issuer.idToken = { claims: { auth_time: now - 3600 } };
  expect(await follow()).toMatchObject({ exit: 0 });
  const kept = await home.session();
  const old = await follow({}, ['--fresh']);
  expect(old.asked.get('max_age')).toBe('0');
  expect(old.asked.get('prompt')).toBe('login consent');
  expect(old).toMatchObject({ exit: 4, stderr: expect.stringContaining('did not ask you to sign in anew') });
  expect(await home.session()).toEqual(kept);
  issuer.idToken = { claims: { auth_time: now } };
  expect(await follow({}, ['--fresh'])).toMatchObject({ exit: 0 });
});
