import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OwnPostgresServer } from '../../../test/env/postgres-server.ts';
import { daemonOn, startLedgerServer } from '../../../test/verifier/postgres-world.ts';

let server: OwnPostgresServer;
beforeAll(async () => {
  server = await startLedgerServer();
});
afterAll(() => server[Symbol.asyncDispose]());

describe('spend', () => {
  test('accepts a proof once', async () => {
    const { verifier, request } = await daemonOn(server);
    const signed = request();
    await expect(verifier.verify(signed)).resolves.toMatchObject({ version: 2 });
    await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'nonce_replayed' });
  });
});
