import { setLifecycleWrites } from '@ori/administration/organizations';
import { expect, test } from 'vitest';
import type { Reply } from '../../env/http-client.ts';
import { expectRefusal } from '../refusal.ts';
import { freshId, startSignerWorld, useSignerWorld } from '../signer-world.ts';

const world = await useSignerWorld();
const { issuer, tenants } = world;

/** Everything that a caller sees of a response, except for what differs in every response. */
function visible({ status, headers, text }: Reply): unknown {
  const { date, 'x-request-id': _, ...rest } = headers;
  return { status, headers: rest, text };
}

const causes: Record<string, () => Promise<Reply>> = {
  'an unknown intern': () => world.sign({ internId: freshId('int') }),
  'an intern of a workspace outside the programme': () => world.sign({ internId: tenants.outsideInternId }),
  'a subject that nobody has': async () => world.sign({ bearer: await issuer.token({ subject: 'hal' }) }),
  'a user who was never a member': async () =>
    world.sign({ bearer: await issuer.token({ subject: 'grace' }) }),
  'a subject beyond ASCII': async () => world.sign({ bearer: await issuer.token({ subject: '\u00e4da' }) }),
  'an id outside the alphabet': () => world.sign({ internId: 'int.7' }),
  'an id of 129 characters': () => world.sign({ internId: 'x'.repeat(129) }),
  'an id with an encoded slash': () => world.sign({ internId: `${tenants.internId}%2F` }),
  'an id that does not decode': () => world.sign({ internId: '%ff' }),
  'an id with half an escape': () => world.sign({ internId: '%6' }),
  'an id with an encoded NUL': () => world.sign({ internId: `${tenants.internId}%00` }),
  'an id in other letters': () => world.sign({ internId: tenants.internId.toUpperCase() }),
};

const [reference] = await Promise.all([world.sign({ internId: freshId('int') })]);

test.each(Object.entries(causes))('%s is not found, with the same bytes as any other', async (_, ask) => {
  const answer = await ask();
  expectRefusal(answer, { status: 404, reason: 'not_found' });
  expect(visible(answer)).toEqual(visible(reference));
});

test('nothing is found while lifecycle writes are disabled', async () => {
  await using other = await startSignerWorld();
  await setLifecycleWrites(other.store, { enabled: false });
  expect(visible(await other.sign())).toEqual(visible(reference));
});

test('a removed member of a workspace outside the programme learns nothing', async () => {
  const answer = await world.sign({
    internId: tenants.outsideInternId,
    bearer: await issuer.token({ subject: 'mary' }),
  });
  expect(visible(answer)).toEqual(visible(reference));
});

test.each([null, 'sk-ori-v1-00'])('an invalid id is refused after the bearer is checked', async (bearer) => {
  expectRefusal(await world.sign({ bearer, internId: '%ff' }), { status: 401 });
});

const sign = `/v1/interns/${tenants.internId}/daemon/sign`;

test.each([
  ['a slash at the end', `${sign}/`],
  ['another version', sign.replace('/v1', '/v2')],
  ['no version', sign.replace('/v1', '')],
])('a path with %s is not found', async (_, path) => {
  expectRefusal(await world.sign({ path }), { status: 404, reason: 'not_found' });
});

test('a query changes nothing', async () => {
  expect((await world.sign({ path: `${sign}?user=mallory` })).status).toBe(200);
});
