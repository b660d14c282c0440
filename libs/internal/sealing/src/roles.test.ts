import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { serveInTest } from '@ori/test-env/serve-in-test';
import { afterAll, expect, it } from 'vitest';
import { generateRoleKey, makeDelegation, readPublicKey } from './new-roles.ts';
import { openRoleKey, readDelegations } from './roles.ts';

const folder = await mkdtemp(join(tmpdir(), 'ori-roles-'));
afterAll(() => rm(folder, { recursive: true }));

let files = 0;
async function fileOf(text: string) {
  const path = join(folder, String(files++));
  await writeFile(path, text, { mode: 0o600 });
  return { path, variable: 'ROOT' };
}

const made = await generateRoleKey();
const { d, ...jwk } = JSON.parse(made.text);
const other = JSON.parse((await generateRoleKey()).text);
const jwkOf = (change: object) => JSON.stringify({ ...jwk, d, ...change });

it('opens the key that was made, whose public half it prints', async () => {
  const file = await fileOf(made.text);
  const { publicKey } = await openRoleKey(file);
  expect(made.publicJwk).toEqual({
    kty: 'OKP',
    crv: 'Ed25519',
    x: Buffer.from(publicKey).toString('base64url'),
  });
  expect(readPublicKey(file)).toEqual(Buffer.from(publicKey));
});

it.each([
  ['no JSON', 'secret', 'expected a private key of ori-admin root generate'],
  ['another kind of key', jwkOf({ kty: 'EC' }), 'expected a private key of ori-admin root generate'],
  ['neither seed nor wrapped seed', jwkOf({ d: undefined }), 'expected "d" or "wrapped"'],
  ['a seed in two forms', jwkOf({ wrapped: 'x' }), 'expected "d" or "wrapped"'],
  ['the seed of another key', jwkOf({ d: other.d }), '"x" does not match the private key'],
  ['a wrapped seed and no KMS', jwkOf({ d: undefined, wrapped: 'x' }), 'no KMS is configured'],
])('refuses %s, quoting nothing of it', async (_what, text, problem) => {
  const error = await openRoleKey(await fileOf(text)).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'ConfigError', message: expect.stringContaining(problem) });
  expect(String(error)).not.toContain(d);
});

it('takes of a KMS only the seed that was wrapped, of 256 bits', async () => {
  let answer = '';
  const server = createServer(async (request, response) => {
    await json(request);
    response.end(JSON.stringify({ data: { plaintext: answer } }));
  });
  const kmsUrl = `${(await serveInTest(server)).url}/v1/transit/keys/kek`;
  const file = { ...(await fileOf(jwkOf({ d: undefined, wrapped: 'x' }))), kmsUrl };
  answer = Buffer.from(d, 'base64url').toString('base64');
  await expect(openRoleKey(file)).resolves.toMatchObject({ kid: expect.any(String) });
  answer = Buffer.from(other.d, 'base64url').toString('base64');
  await expect(openRoleKey(file)).rejects.toThrow('"x" does not match');
  answer = Buffer.alloc(31).toString('base64');
  await expect(openRoleKey(file)).rejects.toMatchObject({ name: 'KmsError', code: 'unusable' });
});

it('reads one delegation in each line, and refuses any other line', async () => {
  const root = await openRoleKey(await fileOf(made.text));
  const { publicKey } = root;
  const named = {
    baseUrl: 'https://api.example/v1',
    role: 'keys',
    publicKey,
    notBefore: 1,
    expiresAt: 2,
  } as const;
  const line = makeDelegation(root, named);
  const text = `${JSON.stringify(line)}\n\n`;
  expect(readDelegations(await fileOf(text))).toEqual([line]);
  const wrong = await fileOf(`${text}{}\n`);
  expect(() => readDelegations(wrong)).toThrow('ROOT: expected a delegation');
  expect(() => readDelegations({ ...wrong, path: join(folder, 'none') })).toThrow('ROOT: cannot read');
});
