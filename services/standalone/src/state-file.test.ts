import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeStateFolder, readState, type StandaloneState, writeState } from './state-file.ts';

const STATE: StandaloneState = {
  baseUrl: 'http://127.0.0.1:5/v1',
  issuer: 'http://127.0.0.1:1',
  daemonUrl: 'http://127.0.0.1:2',
  jwksUrl: 'http://127.0.0.1:5/v1/interns/int_x/daemon/jwks.json',
  root: { kty: 'OKP', crv: 'Ed25519', x: 'e' },
  metrics: { signer: 'http://127.0.0.1:3/metrics', management: 'http://127.0.0.1:4/metrics' },
  internId: 'int_x',
  otherInternId: 'int_other',
  workspaceId: 'ws_x',
  users: [{ name: 'ada', subject: 'ada-1', userId: 'user_1' }],
  apiKey: 'a',
  apiKeyHash: 'b',
  internApiKey: 'c',
  managementKey: 'd',
  byokId: 'c0ffee00-0000-4000-8000-000000000000',
};

let home: string;
let path: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'ori-state-'));
  path = join(home, '.ori', 'standalone.json');
});
afterEach(() => rmSync(home, { recursive: true }));

it('is readable only by its owner, even if an older file was not', async () => {
  makeStateFolder(home);
  writeFileSync(path, 'old', { mode: 0o644 });
  await writeState(home, STATE);
  expect((statSync(path).mode & 0o777).toString(8)).toBe('600');
  expect((statSync(join(home, '.ori')).mode & 0o777).toString(8)).toBe('700');
  expect(readdirSync(home)).toEqual(['.ori']);
});

it('returns what was written, and nothing once it is removed', async () => {
  const remove = await writeState(home, STATE);
  const { port } = new URL(STATE.baseUrl);
  expect(readState(home)).toEqual(STATE);
  expect(readState(home, port)).toEqual(STATE);
  remove();
  remove();
  expect(readState(home)).toBeUndefined();
  expect(readState(home, port)).toBeUndefined();
});

it('keeps the state of a standalone that has started since', async () => {
  const remove = await writeState(home, STATE);
  await writeState(home, { ...STATE, internId: 'int_y' });
  remove();
  expect(existsSync(path)).toBe(true);
});

it('keeps the state of a running one next to its own', async () => {
  const running = createServer().listen(0, '127.0.0.1');
  await once(running, 'listening');
  const { port } = running.address() as AddressInfo;
  const first = { ...STATE, baseUrl: `http://127.0.0.1:${port}/v1` };
  const second = { ...STATE, baseUrl: 'http://127.0.0.1:1/v1' };
  await writeState(home, first);
  const remove = await writeState(home, second);
  expect(readState(home)).toEqual(first);
  expect(readState(home, '1')).toEqual(second);
  remove();
  expect(readState(home)).toEqual(first);
  running.close();
  await once(running, 'close');
});
