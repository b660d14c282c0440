import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { OriHome } from './cli-process.ts';
import { INTERN_ID, useCliWorld } from './cli-world.ts';
import { clockOff } from './wrong-clock.ts';

const CALL = ['call', INTERN_ID, '/api/invoke', '--data', '{}'];
const world = await useCliWorld();

async function refreshTokenOf(home: OriHome): Promise<string> {
  return JSON.parse(await readFile(home.sessionFile, 'utf8')).refresh_token;
}

describe.each([
  ['1 day ahead', 86_400],
  ['1 day behind', -86_400],
])('with a clock that is %s', (words, seconds) => {
  it('signs in and renews the session, with the wrong clock and after it is corrected', async () => {
    await using home = await world.newHome();
    const login = await world.signIn(home, { env: clockOff(seconds) });
    expect(login).toMatchObject({ exit: 0 });
    expect(login.stderr).toContain(words);
    const before = await refreshTokenOf(home);
    const text = await readFile(home.sessionFile, 'utf8');
    const ended = JSON.stringify({ ...JSON.parse(text), expires_at: 1 });
    await writeFile(home.sessionFile, ended, { mode: 0o600 });
    const called = await home.ori(CALL, { env: clockOff(seconds) });
    expect(called).toMatchObject({ exit: 0 });
    expect(called.stderr).toContain(words);
    expect(await refreshTokenOf(home)).not.toBe(before);
    expect(await home.ori(CALL)).toMatchObject({ exit: 0 });
    expect(await home.ori(['whoami'])).toMatchObject({ exit: 0 });
  });
});
