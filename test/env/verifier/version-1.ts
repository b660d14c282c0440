import { describe, expect, test } from 'vitest';
import { createLocalKeySet } from '../../../libs/public/verifier/src/keys/local.ts';
import type { ReplayStore } from '../../../libs/public/verifier/src/replay/replay-store.ts';
import type { SignedRequest } from '../../../libs/public/verifier/src/request.ts';
import type { TestProofOptions, TestSigner } from '../../../libs/public/verifier/src/testing/testing.ts';
import { createVerifier, type Verifier } from '../../../libs/public/verifier/src/verifier.ts';

/** A daemon that accepts version 1, and the store behind it. */
interface Accepting {
  readonly internId: string;
  readonly signer: TestSigner;
  readonly verifier: Verifier;
  readonly replay: ReplayStore;
  readonly request: (proof?: Partial<TestProofOptions>) => SignedRequest;
  /** Backdates the recording of version 1 ids, so that a test need not wait for it. */
  readonly backdate: () => Promise<unknown>;
}

const stripped = (request: SignedRequest): SignedRequest => ({
  ...request,
  rawHeaders: request.rawHeaders.filter(
    (_, index, list) => !/-v2$|-nonce$/.test(list[index - (index % 2)] ?? ''),
  ),
});

/** What a shared store does with version 1, which it records only for verifiers that accept it. */
export function describeVersion1(open: () => Promise<Accepting>): void {
  describe('version 1', () => {
    test('is refused until its ids are recorded, which starts with a verifier that accepts version 1', async () => {
      const { verifier, request, backdate } = await open();
      const signed = request({ version: 1 });
      await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'proof_before_fence' });
      await backdate();
      await expect(verifier.verify(signed)).resolves.toMatchObject({ version: 1 });
      await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'nonce_replayed' });
      for (const user of ['acct_ada', 'acct_grace']) {
        await expect(verifier.verify(request({ version: 1, user }))).resolves.toMatchObject({ user });
      }
    });

    test('is refused as far ahead of that as the tolerance of the verifier reaches', async () => {
      const { internId, signer, replay, request } = await open();
      const keys = createLocalKeySet(signer.jwks);
      const options = { internId, keys, replay, acceptV1: true, clockToleranceSeconds: 60 };
      const ahead = request({ version: 1, timestamp: Math.floor(Date.now() / 1000) + 30 });
      await expect(createVerifier(options).verify(ahead)).rejects.toMatchObject({
        code: 'proof_before_fence',
      });
    });

    test.each(['stripped after', 'stripped before', 'stripped meanwhile'])(
      'and the version 2 proof it was %s are accepted once together',
      async (order) => {
        const { verifier, request, backdate } = await open();
        await backdate();
        for (let round = 0; round < 20; round += 1) {
          const signed = request({ user: `user_${round}` });
          const pair = order === 'stripped before' ? [stripped(signed), signed] : [signed, stripped(signed)];
          const asked: Promise<unknown>[] = [];
          for (const proof of pair) {
            const verdict = verifier.verify(proof);
            asked.push(verdict);
            if (order !== 'stripped meanwhile') await verdict.catch(() => undefined);
          }
          const verdicts = await Promise.allSettled(asked);
          expect(verdicts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
        }
      },
    );

    test('does not block a second version 2 proof of the same user, body and second', async () => {
      const { verifier, request, backdate } = await open();
      await backdate();
      const timestamp = Math.floor(Date.now() / 1000);
      await verifier.verify(request({ timestamp }));
      await expect(verifier.verify(request({ timestamp }))).resolves.toBeDefined();
    });

    test('is also recorded by verifiers that do not accept it', async () => {
      const { internId, signer, replay, verifier, request, backdate } = await open();
      await backdate();
      const strict = createVerifier({ internId, keys: createLocalKeySet(signer.jwks), replay });
      const signed = request();
      await strict.verify(signed);
      await expect(verifier.verify(stripped(signed))).rejects.toMatchObject({ code: 'nonce_replayed' });
    });
  });
}
