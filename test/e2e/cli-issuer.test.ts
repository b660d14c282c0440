import { afterAll, expect, it } from 'vitest';
import { adviceForOauthCode, OAUTH_CODES } from '../../services/ori/src/core/failures/oauth-codes.ts';
import { startOri } from './cli-in-process.ts';
import { startScriptedIssuer } from './cli-scripted-issuer.ts';
import { listen, useCliWorld } from './cli-world.ts';

// What a script cannot say: see scripts/sign-in-tokens.txt, sign-in-ways.txt and sessions.txt.

const world = await useCliWorld();
const issuer = await startScriptedIssuer();
world.metadata = { ...world.metadata, authorization_servers: [issuer.url] };
const home = await world.newHome();
afterAll(() => Promise.all([issuer, home].map((one) => one[Symbol.asyncDispose]())));

async function signIn(changes: Record<string, string | undefined> = {}) {
  const login = startOri(home, ['login', '--no-browser']);
  const [, url = ''] = await login.told(/sign in:\n {2}(\S+)\n/);
  await fetch(issuer.redirectOf(url, changes));
  return login.result;
}

it.each(OAUTH_CODES.filter((code) => code !== 'expired_token'))(
  'what the issuer refuses is told as its refusal, with what to change: %s',
  async (error) => {
    const { exit, stderr } = await signIn({ code: undefined, error, error_description: 'Said so.' });
    expect(exit).toBe(4);
    expect(stderr).toContain(`The issuer refused the sign-in: ${error}: Said so.`);
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(adviceForOauthCode(error));
    expect(stderr).not.toMatch(/try again/i);
  },
);

it('signs a device in despite "not yet", "slow down", "too many" and a lost connection', async () => {
  const pending = { status: 400, body: { error: 'authorization_pending' } };
  const slowDown = { status: 400, body: { error: 'slow_down' } };
  issuer.tokenRequests.length = 0;
  issuer.tokenAnswers.push(pending, 'cut', { status: 429, body: { error: 'too_many_requests' } }, slowDown);
  expect(await startOri(home, ['login', '--device']).result).toMatchObject({ exit: 0 });
  const [, , third = 0, fourth = 0, last = 0] = issuer.tokenRequests.map(({ at }) => at);
  expect([fourth - third > 390, last - fourth > 5000]).toEqual([true, true]);
});

it('stops waiting for a device at once when interrupted, whatever the interval', async () => {
  const { deviceAnswer } = issuer;
  issuer.deviceAnswer = { ...deviceAnswer, expires_in: 3600, interval: 3600 };
  const login = home.start(['login', '--device']);
  await login.told(/Waiting/);
  login.child.kill('SIGINT');
  expect(await login.result).toMatchObject({ exit: 130, stdout: '' });
  issuer.deviceAnswer = deviceAnswer;
});

it('proves its key by the time of the issuer, and not of a cache', async () => {
  issuer.metadata = { dpop_signing_alg_values_supported: ['ES256'] };
  issuer.cachedHeaders = { date: new Date(Date.now() - 120_000).toUTCString() };
  issuer.tokenMembers = { token_type: 'DPoP' };
  expect(await signIn()).toMatchObject({ exit: 0 });
  const [, payload = ''] = String(issuer.tokenRequests.at(-1)?.dpop).split('.');
  const { iat } = JSON.parse(Buffer.from(payload, 'base64url').toString());
  expect(Math.abs(iat - Date.now() / 1000)).toBeLessThan(60);
});

it('limits the size of an issuer’s documents', async () => {
  await using endless = await listen((_req, res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    const more = () => {
      while (res.write(' '.repeat(64 * 1024)));
      res.once('drain', more);
    };
    more();
  });
  world.metadata = { ...world.metadata, authorization_servers: [endless.url] };
  const login = await startOri(home, ['login', '--no-browser']).result;
  expect(login).toMatchObject({ exit: 6, stdout: '', stderr: expect.stringContaining('too long') });
});
