import { daemonOn, startLedgerServer } from '@ori/test-env/verifier/postgres-world';
import { COPIES, PROCESSES, presentEverywhere } from '@ori/test-env/verifier/present-everywhere';
import { expect, onTestFinished, test } from 'vitest';

test('4 processes that present the same proof 1,000 times each to one PostgreSQL get it accepted once', async () => {
  const server = await startLedgerServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  const { internId, request, signer } = await daemonOn(server);
  const signed = request();
  const verdicts = await presentEverywhere({
    url: server.url,
    internId,
    mode: 'spend',
    jwks: signer.jwks,
    target: signed.target ?? '',
    rawHeaders: [...signed.rawHeaders],
    body: Buffer.from(signed.body).toString(),
    copies: COPIES,
  });
  console.log('postgres', verdicts);
  expect(verdicts).toEqual({ accepted: 1, nonce_replayed: PROCESSES * COPIES - 1 });
});
