import { describe, expect, it } from 'vitest';
import { INTERN_ID, useCliWorld } from './cli-world.ts';
import { clockOff } from './wrong-clock.ts';

const CALL = ['call', INTERN_ID, '/api/invoke', '--data', '{}'];
const world = await useCliWorld();

describe.each([
  ['1 day ahead', 86_400],
  ['1 day behind', -86_400],
])('with a clock that is %s', (words, seconds) => {
  it('signs in and renews the session, with the wrong clock and after it is corrected', async () => {
    await using home = await world.newHome();
    const login = await world.signIn(home, { env: clockOff(seconds) });
    expect(login).toMatchObject({ exit: 0 });
    expect(login.stderr).toContain(words);
    const { refresh_token: before } = await home.session();
    await home.changeSession({ expires_at: 1 });
    const called = await home.ori(CALL, { env: clockOff(seconds) });
    expect(called).toMatchObject({ exit: 0 });
    expect(called.stderr).toContain(words);
    expect((await home.session()).refresh_token).not.toBe(before);
    expect(await home.ori(CALL)).toMatchObject({ exit: 0 });
    expect(await home.ori(['whoami'])).toMatchObject({ exit: 0 });
  });
});
