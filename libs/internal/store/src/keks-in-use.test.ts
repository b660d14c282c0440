import { createRing, createScenario } from '@ori/test-env/scenario';
import { DIALECTS, openTestStore } from '@ori/test-env/stores';
import { describe, expect, it } from 'vitest';
import { addSigningKey, revokeSigningKey } from './queries/admin/signing-keys.ts';
import { signerQueries } from './signer-sql.ts';

describe.each(DIALECTS)('the KEKs in use on %s', (dialect) => {
  it('are those of the keys that are not withdrawn, each once', async () => {
    await using own = await openTestStore(dialect);
    expect(await signerQueries(own.owner).keksInUse()).toEqual([]);
    const { internId } = await createScenario(own.owner);
    const [one, two, gone] = [createRing(), createRing(), createRing()];
    for (const sealer of [one, two, one])
      await addSigningKey(own.owner, { internId, sealer, expiresAt: 5_000_000_000 });
    const { id: keyId } = await addSigningKey(own.owner, {
      internId,
      sealer: gone,
      notBefore: 6_000_000_000,
    });
    await revokeSigningKey(own.owner, { keyId });
    expect((await signerQueries(own.as('ori_signer')).keksInUse()).sort()).toEqual(
      [one, two].map(({ primary }) => primary.kid).sort(),
    );
  });
});
