import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLocalKeySet } from '../../libs/public/verifier/src/keys/local.ts';
import type { SignedRequest } from '../../libs/public/verifier/src/request.ts';
import { createTestReplayStore, createTestSigner } from '../../libs/public/verifier/src/testing.ts';
import { createVerifier } from '../../libs/public/verifier/src/verifier.ts';
import { type Mutation, mutationsV1, mutationsV2 } from './mutations.ts';

const RUNS = 20_000;
const V1_RUNS = 4_000;

const bodies = fc.uint8Array({ maxLength: 200 });
const paths = fc.constantFrom('/', '/api/invoke', '/api/%7Euser', '/a//b', '/a;b=1', `/${'x'.repeat(2047)}`);
const users = fc.constantFrom('user_2abc', 'a', 'auth0|65a', 'https://issuer.example/u/1', 'x'.repeat(255));

function isSame(a: SignedRequest, b: SignedRequest): boolean {
  const text = ({ method, target, rawHeaders, body }: SignedRequest) =>
    JSON.stringify([method, target, rawHeaders, Buffer.from(body).toString('latin1')]);
  return text(a) === text(b);
}

/** Presents a mutant of a fresh proof, then the unchanged proof, and counts the verdicts on the mutants. */
async function attack(version: 1 | 2, mutations: fc.Arbitrary<Mutation>, runs: number) {
  const signer = createTestSigner({ internId: 'int_7Qm2' });
  const verifier = createVerifier({
    internId: 'int_7Qm2',
    keys: createLocalKeySet(signer.jwks),
    replay: createTestReplayStore(),
    acceptV1: version === 1,
  });
  const told = new Map<string, number>();
  const targets = new Map<string, number>();
  let counter = 0;

  const property = fc.asyncProperty(mutations, bodies, paths, users, async (mutation, bytes, path, user) => {
    // Version 1 proofs are distinguished only by their bodies; of one width, so that no two can be equal.
    counter += 1;
    const body =
      version === 1 ? Buffer.concat([bytes, Buffer.from(String(counter).padStart(8, '0'))]) : bytes;
    const request = signer.request({ path, body, user, version });
    const mutant = mutation.apply(request);
    fc.pre(!isSame(request, mutant));
    const verdict = await verifier.verify(mutant).then(
      () => 'accepted',
      (error: { code?: string; name?: string }) => error.code ?? `${error.name}`,
    );
    told.set(verdict, (told.get(verdict) ?? 0) + 1);
    targets.set(mutation.target, (targets.get(mutation.target) ?? 0) + 1);
    expect(verdict, mutation.target).toMatch(
      /^(?:proof_(?!before)\w+|request_not_coverable|signature_invalid|key_unknown)$/,
    );
    await expect(verifier.verify(request), `untouched after ${mutation.target}`).resolves.toMatchObject({
      user,
    });
  });
  await fc.assert(property, { numRuns: runs, endOnFailure: true, maxSkipsPerRun: 100 });

  const share = (counts: Map<string, number>) =>
    [...counts]
      .sort((a, b) => b[1] - a[1])
      .map(([name, count]) => `  ${((100 * count) / runs).toFixed(1).padStart(5)} %  ${name}`);
  console.log(
    [
      `${runs} mutated version ${version} proofs got:`,
      ...share(told),
      'what was changed:',
      ...share(targets),
    ].join('\n'),
  );
  return told;
}

test('none of 20,000 mutated proofs is accepted or counts as a replay, and each unchanged twin is accepted afterwards', async () => {
  const told = await attack(2, mutationsV2, RUNS);
  expect([...told.values()].reduce((sum, count) => sum + count, 0)).toBe(RUNS);
  // A generator that produced only malformed proofs would show nothing.
  for (const code of ['proof_malformed', 'proof_missing', 'request_not_coverable', 'signature_invalid']) {
    expect(told.get(code) ?? 0, code).toBeGreaterThan(RUNS / 100);
  }
}, 300_000);

test('the same holds for version 1 proofs if they are accepted', async () => {
  const told = await attack(1, mutationsV1, V1_RUNS);
  expect(told.get('signature_invalid') ?? 0).toBeGreaterThan(V1_RUNS / 100);
}, 300_000);
