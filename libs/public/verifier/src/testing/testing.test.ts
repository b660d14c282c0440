import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { serve } from '@ori/test-env/serve';
import { expect, it } from 'vitest';
import { requireProof } from '../adapters/node.ts';
import { createLocalKeySet } from '../keys/local.ts';
import type { VerifierOptions } from '../policy.ts';
import { createVerifier } from '../verifier.ts';
import { createTestReplayStore, createTestSigner } from './testing.ts';

const signer = createTestSigner({ internId: 'int_test' });

/** The calls that a daemon answers otherwise than it must. */
async function wrongAnswers(daemon: RequestListener): Promise<string[]> {
  await using server = await serve(createServer(daemon));
  const wrong: string[] = [];
  for (const { name, accepted, path, ...call } of signer.hostileCalls({ path: '/api/invoke', body: '{}' })) {
    const { ok } = await fetch(`${server.url}${path}`, { method: 'POST', ...call });
    if (ok !== accepted) wrong.push(name);
  }
  return wrong;
}

function verifying(options: Partial<VerifierOptions> = {}): RequestListener {
  const keys = createLocalKeySet(signer.jwks);
  const replay = createTestReplayStore();
  const verifier = createVerifier({ internId: 'int_test', keys, replay, ...options });
  return requireProof(verifier, { bodyBytesMax: 1000 }, (_req, res) => void res.end());
}

it('the ten hostile calls fail at a daemon that verifies, and only they', async () => {
  expect(await wrongAnswers(verifying())).toEqual([]);
});

it('README’s loop over them throws for a daemon that checks nothing, and not for one that verifies', async () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const [, loop = ''] = /```ts\n(const call = .*?)```/s.exec(readme) ?? [];
  const pasted = new Function('signer', 'daemon', `return (async () => { ${loop} })()`);
  await using right = await serve(createServer(verifying()));
  await using open = await serve(createServer((_req, res) => void res.end()));
  await pasted(signer, right.url);
  await expect(pasted(signer, open.url)).rejects.toThrow('accepted: a right proof again');
});

it('a daemon that checks nothing accepts all ten', async () => {
  expect(await wrongAnswers((_req, res) => void res.end())).toHaveLength(10);
});

it.each<[string, Partial<VerifierOptions>, string[]]>([
  ['forgets proofs', { replay: { spend: () => 'spent' } }, ['a right proof again']],
  [
    'has a clock that is ahead',
    { now: () => Date.now() + 3_600_000, replay: { spend: () => 'spent' } },
    ['a right proof', 'an hour ahead'],
  ],
  ['serves another intern', { internId: 'int_test_other' }, ['a right proof', 'a proof for another intern']],
])('they tell a daemon that %s', async (_what, options, wrong) => {
  expect(await wrongAnswers(verifying(options))).toEqual(wrong);
});
