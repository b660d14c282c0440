import { openGuardWorld } from '@ori/test-env/guard-world';
import { expect, it } from 'vitest';

const CALL = { path: '/a', body: '{"a":1}', user: 'user_ada' };
const codeOf = ({ body }: { body: string }) => JSON.parse(body).error.code;

it('ext_authz answers once with the identity, and refuses a partial body', async () => {
  await using world = await openGuardWorld({ env: { GUARD_MODE: 'ext_authz' } });
  const partial = world.signed({ ...CALL, lines: 'x-envoy-auth-partial-body: true\r\n' });
  expect(codeOf(await world.raw(partial))).toBe('request_not_coverable');
  const whole = world.signed({ ...CALL, lines: 'x-envoy-auth-partial-body: false\r\n' });
  const answer = await world.raw(whole);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('x-ori-verified-user')).toBe('user_ada');
  expect(codeOf(await world.raw(whole))).toBe('nonce_replayed');
  expect(world.seen).toEqual([]);
});

it('forward_auth judges the stated method and path, each stated once', async () => {
  const [mode, method, target] = ['forward_auth', 'X-Forwarded-Method', 'X-Forwarded-Uri'];
  await using world = await openGuardWorld({ env: { GUARD_MODE: mode } });
  const ask = (lines: string) => world.raw(world.signed({ ...CALL, lines }).replace('POST /a', 'GET /check'));
  expect((await ask(`${method}: POST\r\n${target}: /a\r\n`)).status).toBe(200);
  for (const lines of [
    '',
    `${method}: POST\r\n`,
    `${method}: GET\r\n${target}: /a\r\n`,
    `${method}: POST\r\n${target}: /a?b\r\n`,
    `${method}: POST\r\n${target}: /a\r\n${target}: /a\r\n`,
  ])
    expect(codeOf(await ask(lines)), lines).toBe('request_not_coverable');
});

it.each(['ext_authz', 'forward_auth'])('%s refuses a proof whose body is not handed over', async (mode) => {
  await using world = await openGuardWorld({ env: { GUARD_MODE: mode } });
  const stated = 'X-Forwarded-Method: POST\r\nX-Forwarded-Uri: /a\r\n';
  const head = `POST /a HTTP/1.1\r\nHost: d\r\nContent-Type: application/json\r\nContent-Length: 0\r\n${stated}`;
  for (const body of ['', CALL.body]) {
    const answer = await world.raw(`${head}${world.proofLines({ ...CALL, body })}\r\n`);
    expect(codeOf(answer)).toBe('request_not_coverable');
  }
});

it.each(['ext_authz', 'forward_auth'])(
  '%s refuses a client that states an identity, in any spelling',
  async (mode) => {
    await using world = await openGuardWorld({ env: { GUARD_MODE: mode } });
    const stated = 'X-Forwarded-Method: POST\r\nX-Forwarded-Uri: /a\r\n';
    for (const name of ['X-Ori-Verified-User', 'x_ori_verified_user', 'x.ori.verified-Nonce']) {
      const answer = await world.raw(world.signed({ ...CALL, lines: `${stated}${name}: user_eve\r\n` }));
      expect(codeOf(answer), name).toBe('request_not_coverable');
    }
  },
);
