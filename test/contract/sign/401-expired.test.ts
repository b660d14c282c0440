import { expect, test } from 'vitest';
import { expectRefusal } from '../refusal.ts';
import { startSignerWorld } from '../signer-world.ts';

test.each(['jwt', 'opaque'] as const)(
  'an expired %s token is refused although its facts are still cached',
  async (kind) => {
    let ahead = 0;
    await using world = await startSignerWorld({ parts: { now: () => Date.now() + ahead } });
    const asked = world.issuer.counts.introspection;
    const bearer = kind === 'jwt' ? await world.issuer.token() : world.issuer.opaqueToken();
    expect((await world.sign({ bearer })).status).toBe(200);
    ahead = 299_000;
    expect((await world.sign({ bearer })).status).toBe(200);
    ahead = 303_000;
    expectRefusal(await world.sign({ bearer }), { status: 401 });
    expect(world.issuer.counts).toMatchObject(kind === 'jwt' ? { jwks: 1 } : { introspection: asked + 1 });
  },
);
