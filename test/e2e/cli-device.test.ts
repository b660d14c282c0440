import { expect, it } from 'vitest';
import { walkThrough } from '../../services/standalone/src/person.ts';
import { INTERN_ID, useCliWorld } from './cli-world.ts';

const world = await useCliWorld();

it.concurrent('signs in with a code confirmed on another device, and can then sign', async () => {
  await using home = await world.newHome();
  const login = home.begin(['login', '--oidc', '--device', '--json']);
  const [line] = await login.told(/^.*"user_code".*$/m);
  const prompt = JSON.parse(line);
  expect(prompt).toMatchObject({ user_code: expect.any(String), verification_uri: `${world.issuer}/device` });
  await walkThrough(new URL(prompt.verification_uri_complete), { user: 'ada' });
  const { exit, stdout, stderr } = await login.result;
  for (const told of stderr.trimEnd().split('\n')) expect(JSON.parse(told)).toEqual(expect.any(Object));
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ subject: 'acct_ada', can_sign: true, renewable: true });
  expect(await home.ori(['call', INTERN_ID, '/api/invoke', '--data', '{}'])).toMatchObject({
    exit: 0,
    stdout: '{"user":"acct_ada"}',
  });
});
