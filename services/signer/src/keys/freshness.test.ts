import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { encodeSignature } from '@ori/proof/signature';
import type { Role } from '@ori/proof/statements';
import { setStatementInput } from '@ori/proof/statements';
import { ConfigError } from '@ori/runtime/config';
import type { KeyWrapper } from '@ori/sealing/key-wrapper';
import { createRoleKey, generateRoleKey } from '@ori/sealing/new-roles';
import type { DelegationLine } from '@ori/sealing/roles';
import { createTransit } from '@ori/sealing/transit';
import { createWorldRoot, type WorldRoot } from '@ori/test-env/root';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { collectKeySetRoles, createKeySetRoles, openKeySetRoles } from './freshness.ts';

const BASE = 'https://ori.example.com/v1';
const NOW = 1_789_000_000;
const SHA256 = 'ab'.repeat(32);

let directory: string;
let root: WorldRoot;
let keyFile: string;
const closing: (() => void)[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ori-key-set-roles-'));
  root = await createWorldRoot({ directory }, BASE);
  keyFile = join(directory, 'freshness.json');
});
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closing.splice(0)) close();
  await rm(directory, { recursive: true });
});

type Keys = 'freshness' | 'stater';
/** A delegation, with its times in seconds from NOW. */
const line = (role: Role, key: Keys, nbf: number, exp: number): DelegationLine =>
  JSON.parse(root.delegate(role, root[key], { notBefore: NOW + nbf, expiresAt: NOW + exp }));
const shown = ({ base: _base, ...rest }: DelegationLine) => rest;
const rolesOf = (delegations: DelegationLine[]) =>
  createKeySetRoles({ baseUrl: BASE }, () => ({ key: root.freshness, delegations }));
const bothRoles = () => [line('keys', 'stater', -20, 20), line('freshness', 'freshness', -10, 10)];
const keysFirst = () => [line('keys', 'stater', -10, 10), line('freshness', 'freshness', -20, 20)];

test.each([
  ['freshness', bothRoles],
  ['keys', keysFirst],
])('shows the delegations exactly while that of the role %s is in force', (_, delegations) => {
  const lines = delegations();
  const roles = rolesOf(lines);
  for (const at of [(NOW - 10) * 1000, (NOW + 10) * 1000 - 1])
    expect(roles.member(at)).toEqual({ delegations: lines.map(shown) });
  for (const at of [(NOW - 10) * 1000 - 1, (NOW + 10) * 1000])
    expect(() => roles.member(at)).toThrow(expect.objectContaining({ dependency: 'roles' }));
});

test('shows also the delegations of other keys and those to come, and none that has ended', () => {
  const ended = [line('freshness', 'freshness', -10, 0), line('keys', 'stater', -10, -5)];
  const others = [line('freshness', 'stater', -10, 1), line('keys', 'freshness', 100, 200)];
  const current = [...bothRoles(), ...others, line('root', 'stater', -10, 1)];
  expect(rolesOf([...ended, ...current]).member(NOW * 1000)).toEqual({ delegations: current.map(shown) });
});

test.each<[string, number, () => DelegationLine[]]>([
  ['freshness if it ends first', 10, bothRoles],
  ['keys if it ends first', 10, keysFirst],
  [
    'the last line',
    15,
    () => [...[15, 5].map((exp) => line('freshness', 'freshness', 0, exp)), ...bothRoles()],
  ],
  ['a line that has started', 10, () => [line('freshness', 'freshness', 1, 15), ...bothRoles()]],
  ['the own freshness key', 10, () => [line('freshness', 'stater', 0, 15), ...bothRoles()]],
])('the roles end with %s', (_, end, lines) => {
  vi.setSystemTime(NOW * 1000);
  expect(rolesOf(lines()).endsAt()).toBe(NOW + end);
});

test.each<Role>(['keys', 'freshness'])('the end is 0 with the role %s alone', (role) => {
  vi.setSystemTime(NOW * 1000);
  expect(rolesOf([line(role, 'freshness', -10, 10)]).endsAt()).toBe(0);
});

test('states a set with the current freshness key, for this base address', () => {
  let key = root.freshness;
  const roles = createKeySetRoles({ baseUrl: BASE }, () => ({ key, delegations: [] }));
  const input = setStatementInput({ baseUrl: BASE, internId: 'int_1', at: NOW, sha256: SHA256 });
  for (key of [root.freshness, createRoleKey()])
    expect(roles.state('int_1', NOW, SHA256)).toBe(`${NOW} ${encodeSignature(key.sign(input))}`);
});

test('the metric is the end of the roles at each scrape', async () => {
  const registry = new Registry();
  let end = NOW;
  collectKeySetRoles(registry, { endsAt: () => end });
  for (end of [NOW, NOW + 7])
    expect(await registry.metrics()).toContain(`\nsigner_key_set_roles_end_timestamp_seconds ${end}\n`);
});

async function open(
  parts: Partial<Parameters<typeof openKeySetRoles>[0]> = {},
  log = { info: vi.fn(), error: vi.fn() },
) {
  const files = { freshnessKeyFile: keyFile, delegationsFile: root.delegationsFile };
  const config = { ...files, kmsUrl: undefined, kmsTokenFile: undefined, baseUrl: BASE, ...parts };
  const roles = await openKeySetRoles(config, log);
  if (roles !== undefined) closing.push(roles.close);
  return { roles, log, now: () => [roles?.endsAt(), roles?.state('int_1', NOW, SHA256)] };
}

test.each([
  ['neither file', { freshnessKeyFile: undefined, delegationsFile: undefined }],
  ['no key', { freshnessKeyFile: undefined }],
  ['no delegations', { delegationsFile: undefined }],
])('has no roles if %s is configured', async (_, parts) => {
  expect((await open(parts)).roles).toBeUndefined();
});

const delegated = (freshness = {}) =>
  root.delegate('keys', root.stater) + root.delegate('freshness', root.freshness, freshness);
const foreign = () => `${JSON.stringify({ ...line('keys', 'stater', 0, 1), base: `${BASE}/` })}\n`;

test.each<[string, RegExp, () => string]>([
  ['whose first line is for another base address', /: .*\b1\b/, () => foreign() + delegated()],
  ['whose third line is for another base address', /: .*\b3\b/, () => delegated() + foreign()],
  ['with the role freshness of another key', /: /, () => root.delegate('freshness', root.stater)],
  ['with another role of the freshness key', /: /, () => root.delegate('keys', root.freshness)],
  ['that is malformed', /: /, () => 'x'],
])('refuses a file of delegations %s', async (_, rest, text) => {
  await writeFile(root.delegationsFile, text());
  const problems = [expect.stringMatching(`^SIGNER_DELEGATIONS_FILE${rest.source}`)];
  await expect(open()).rejects.toMatchObject({ name: 'ConfigError', problems });
});

test.each([
  ['SIGNER_FRESHNESS_KEY_FILE', { freshnessKeyFile: '/nonexistent/key' }],
  ['SIGNER_DELEGATIONS_FILE', { delegationsFile: '/nonexistent/lines' }],
])('names %s if that file is absent', async (name, parts) => {
  const problems = [expect.stringMatching(`^${name}: `)];
  await expect(open(parts)).rejects.toMatchObject({ name: 'ConfigError', problems });
});

test.each([
  ['KMS', 'unavailable', 'kms.sock'],
  ['token for its KMS', 'refused', 'token'],
])('waits for the %s of a wrapped key, at the start and after a change', async (_, code, missing) => {
  const kms = createServer(async (request, response) => {
    const { plaintext, ciphertext } = (await json(request)) as Record<string, string>;
    response.end(JSON.stringify({ data: { plaintext: ciphertext, ciphertext: plaintext } }));
  });
  const [socket, token] = [join(directory, 'kms.sock'), join(directory, 'token')];
  await new Promise<void>((resolve) => kms.listen(socket, resolve));
  closing.push(() => kms.close());
  await writeFile(token, 'token', { mode: 0o600 });
  const access = { kmsUrl: `unix:${socket}`, kmsTokenFile: token };
  const away = () => rename(join(directory, missing), join(directory, 'away'));
  const back = () => rename(join(directory, 'away'), join(directory, missing));
  const wrapped = async (expiresAt: number) => {
    const { text, publicJwk } = await generateRoleKey(createTransit(access));
    const publicKey = Buffer.from((publicJwk as { x: string }).x, 'base64url');
    const key = { publicKey } as unknown as WorldRoot['freshness'];
    const lines = root.delegate('keys', root.stater) + root.delegate('freshness', key, { expiresAt });
    return [text, lines] as const;
  };
  const end = Math.floor(Date.now() / 1000) + 1000;
  const [first, next] = [await wrapped(end), await wrapped(end + 1)];
  await Promise.all([writeFile(keyFile, first[0]), writeFile(root.delegationsFile, first[1] + next[1])]);
  await away();
  const log = { info: vi.fn(), error: vi.fn() };
  const opening = open(access, log);
  const refused = [{ err: expect.objectContaining({ name: 'KmsError', code }) }, expect.any(String)];
  await expect.poll(() => log.error.mock.lastCall).toEqual(refused);
  await back();
  const { now } = await opening;
  expect(now()[0]).toBe(end);
  await away();
  log.error.mockClear();
  // Once: each further change would have the key read again.
  await writeFile(`${keyFile}.new`, next[0], { mode: 0o600 });
  await rename(`${keyFile}.new`, keyFile);
  await expect.poll(() => log.error.mock.lastCall).toEqual(refused);
  expect(now()[0]).toBe(end);
  await back();
  await expect.poll(() => now()[0]).toBe(end + 1);
});

test('watches the files without keeping the process alive', async () => {
  const before = process.getActiveResourcesInfo();
  await open();
  const watchers = (names: string[]) => names.filter((name) => name === 'StatWatcher');
  expect(watchers(process.getActiveResourcesInfo())).toEqual(watchers(before));
});

/** Changes a file until that is noticed: a change before the first look at the file is not. */
function change(path: string, text: string, seen: () => unknown) {
  const again = async () => {
    await writeFile(`${path}.new`, text, { mode: 0o600 });
    await rename(`${path}.new`, path);
    return seen();
  };
  return expect.poll(again);
}

test('reloads changed delegations, and keeps the former if they are bad', async () => {
  const { log, now } = await open();
  const end = Math.floor(Date.now() / 1000) + 1000;
  await change(root.delegationsFile, delegated({ expiresAt: end }), () => now()[0]).toBe(end);
  expect(log.info).toHaveBeenCalled();
  expect(log.error).not.toHaveBeenCalled();
  const former = now();
  await change(root.delegationsFile, 'x', () => log.error.mock.calls.length).toBeGreaterThan(0);
  expect(log.error).toHaveBeenCalledWith({ err: expect.any(ConfigError) }, expect.any(String));
  expect(now()).toEqual(former);
  await change(root.delegationsFile, delegated({ expiresAt: end + 1 }), () => now()[0]).toBe(end + 1);
});

test('reloads a changed key, and nothing once it is closed', async () => {
  const other = await createWorldRoot({ directory: await mkdtemp(join(directory, 'other-')) }, BASE);
  const end = Math.floor(Date.now() / 1000) + 1000;
  const next = root.delegate('freshness', other.freshness, { expiresAt: end + 1 });
  await writeFile(root.delegationsFile, delegated({ expiresAt: end }) + next);
  const closed = await open();
  const { now } = await open();
  const former = now();
  closed.roles?.close();
  const text = await readFile(String(other.environment['SIGNER_FRESHNESS_KEY_FILE']), 'utf8');
  await change(keyFile, text, () => now()[0]).toBe(end + 1);
  expect(now()[1]).not.toBe(former[1]);
  expect(closed.now()).toEqual(former);
  expect(closed.log.info).not.toHaveBeenCalled();
});

test('a change is not missed while a KMS has not answered yet', async () => {
  let plaintext = '';
  const wrap = async (seed: Uint8Array) => {
    plaintext = Buffer.from(seed).toString('base64');
    return 'kms:1';
  };
  const { text } = await generateRoleKey({ wrap } as KeyWrapper);
  await writeFile(keyFile, text);
  const { x } = JSON.parse(text);
  const key = { publicKey: Buffer.from(x, 'base64url') } as unknown as WorldRoot['freshness'];
  const until = (expiresAt: number) =>
    root.delegate('keys', root.stater) + root.delegate('freshness', key, { expiresAt });
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const kms = createServer(async (_request, response) => {
    asked.resolve();
    await answered.promise;
    response.end(JSON.stringify({ data: { plaintext } }));
  });
  const socket = join(directory, 'kms.sock');
  await new Promise<void>((resolve) => kms.listen(socket, resolve));
  closing.push(() => kms.close());
  const end = Math.floor(Date.now() / 1000) + 1000;
  await writeFile(root.delegationsFile, until(end));
  const opening = open({ kmsUrl: `unix:${socket}` });
  await asked.promise;
  await writeFile(root.delegationsFile, until(end + 1));
  answered.resolve();
  const { now } = await opening;
  await expect.poll(() => now()[0]).toBe(end + 1);
});
