import { chmod, lstat, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Session } from '../core/session.ts';
import { removeKept } from './kept-secret.ts';
import { readSession, type SessionPlace, writeSession } from './session-store.ts';

const SESSION: Session = {
  version: 1,
  base_url: 'https://api.example.com/v1',
  resource: 'https://api.example.com/v1',
  issuer: 'https://issuer.example.com',
  client_id: 'ori-cli',
  subject: 'user_2abc',
  name: 'Ada',
  scope: 'openid vault:read',
  access_token: 'canary-access',
  expires_at: 1_789_000_300,
  refresh_token: 'canary-refresh',
  signed_in_at: 1_789_000_000,
  renewed_at: 1_789_000_000,
};

let home: string;
let file: string;
let place: SessionPlace;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'ori-session-'));
  file = join(home, 'config', 'ori', 'session.json');
  const interrupted = new AbortController().signal;
  place = { profile: 'default', file, lock: `${file}.lock`, keyFile: join(home, 'key.json'), interrupted };
});
afterEach(() => rm(home, { recursive: true, force: true }));

it('reads what it wrote, from a file and a folder that only the owner can access', async () => {
  expect(await readSession(place)).toBeUndefined();
  await writeSession(place, SESSION);
  expect(await readSession(place)).toEqual(SESSION);
  expect((await lstat(file)).mode & 0o777).toBe(0o600);
  expect((await lstat(dirname(file))).mode & 0o777).toBe(0o700);
});

it('reads the longest tokens that an answer of the issuer can have', async () => {
  const long = { ...SESSION, access_token: 'a'.repeat(500_000), refresh_token: 'r'.repeat(500_000) };
  await writeSession(place, long);
  expect(await readSession(place)).toEqual(long);
});

it('replaces the file atomically and leaves no other files', async () => {
  await writeSession(place, SESSION);
  const before = (await lstat(file)).ino;
  await writeSession(place, { ...SESSION, access_token: 'next' });
  expect((await lstat(file)).ino).not.toBe(before);
  expect(await readdir(dirname(file))).toEqual(['session.json']);
});

it('restricts a folder that others could read', async () => {
  await mkdir(dirname(file), { recursive: true, mode: 0o755 });
  await writeSession(place, SESSION);
  expect((await lstat(dirname(file))).mode & 0o777).toBe(0o700);
});

it.each([0o640, 0o604, 0o660, 0o602, 0o644])('refuses a session file of mode %o', async (mode) => {
  await writeSession(place, SESSION);
  await chmod(file, mode);
  await expect(readSession(place)).rejects.toMatchObject({ code: 'session_file_exposed' });
  expect(await readSession(place, { trusting: true })).toEqual(SESSION);
});

it('refuses a session file in a folder that others can write to', async () => {
  await writeSession(place, SESSION);
  await chmod(dirname(file), 0o770);
  await expect(readSession(place)).rejects.toMatchObject({ code: 'session_file_exposed' });
});

it('reads and writes in a folder that a link leads to, if that is private', async () => {
  await symlink(home, join(home, 'link'));
  const linked = { ...place, file: join(home, 'link', 'session.json') };
  await writeSession(linked, SESSION);
  expect(await readSession(linked)).toEqual(SESSION);
});

it('refuses a symbolic link instead of the session file, and replaces the link, not its target', async () => {
  const elsewhere = join(home, 'elsewhere.json');
  await writeSession({ ...place, file: elsewhere }, SESSION);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await symlink(elsewhere, file);
  await expect(readSession(place)).rejects.toMatchObject({ code: 'session_file_damaged' });
  await writeSession(place, { ...SESSION, subject: 'user_other' });
  expect(await readSession({ ...place, file: elsewhere })).toMatchObject({ subject: 'user_2abc' });
});

it.each(['', '{', '[]', '{"version":1}', 'x'.repeat(5_000_000)])(
  'refuses a damaged file without quoting it',
  async (text) => {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, text, { mode: 0o600 });
    const error = await readSession(place).catch((error) => error);
    expect(error).toMatchObject({ code: 'session_file_damaged' });
    expect(error.cause).toBeUndefined();
  },
);

it('says why a folder cannot be used', async () => {
  await writeFile(join(home, 'config'), '');
  await expect(writeSession(place, SESSION)).rejects.toMatchObject({ code: 'session_file_unusable' });
});

it('removes the file, and returns whether it existed', async () => {
  await writeSession(place, SESSION);
  expect(await removeKept(place)).toBe(true);
  expect(await removeKept(place)).toBe(false);
});
