import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { serve } from '@ori/test-env/serve';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createAwsKms } from './aws.ts';

const KEK = Buffer.alloc(32, 7);
const { signal } = new AbortController();

/** AWS KMS as far as it is asked here: its answer is what it was given. */
async function openKms(status = 200) {
  const asked: unknown[] = [];
  const server = await serve(
    createServer(async (req, res) => {
      const { Plaintext, CiphertextBlob, ...facts } = (await json(req)) as Record<string, unknown>;
      asked.push([req.headers['x-amz-target'], facts]);
      res.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
      res.end(JSON.stringify({ __type: 'Refused', CiphertextBlob: Plaintext, Plaintext: CiphertextBlob }));
    }),
  );
  const of = { AWS_ENDPOINT_URL: server.url, AWS_REGION: 'eu-north-1', AWS_ACCESS_KEY_ID: 'a' };
  for (const [name, value] of Object.entries({ ...of, AWS_SECRET_ACCESS_KEY: 'b' })) vi.stubEnv(name, value);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await server[Symbol.asyncDispose]();
  });
  return { key: createAwsKms({ keyId: 'alias/ori' }), asked };
}

it('binds each ciphertext to its purpose, which a key policy can require', async () => {
  const { key, asked } = await openKms();
  const wrapped = await key.wrap(KEK, signal);
  expect(wrapped).toBe(`aws:v1:${KEK.toString('base64')}`);
  expect(await key.unwrap(wrapped, signal)).toEqual(KEK);
  const facts = { KeyId: 'alias/ori', EncryptionContext: { 'ori:purpose': 'kek' } };
  expect(asked).toEqual([
    ['TrentService.Encrypt', facts],
    ['TrentService.Decrypt', facts],
  ]);
});

it.each([
  [400, 'refused', 1],
  [500, 'unavailable', 2],
])('takes %i for %s, after %i attempts', async (status, code, attempts) => {
  const { key, asked } = await openKms(status);
  await expect(key.wrap(KEK, signal)).rejects.toMatchObject({ code });
  expect(asked).toHaveLength(attempts);
});
