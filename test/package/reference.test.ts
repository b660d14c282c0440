import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { buildReference } from '../../deploy/reference/build.ts';

test('the reference has a page for each public function, and builds without warnings', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ori-reference-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await buildReference(folder);
  const pages = await readdir(join(folder, 'functions'));
  expect(pages).toEqual(
    expect.arrayContaining([
      '_ori_proof.parseProofHeaders.html',
      '_ori_verifier.createVerifier.html',
      '_ori_verifier_express.requireProof.html',
      '_ori_verifier_redis.redisReplayStore.html',
    ]),
  );
});
