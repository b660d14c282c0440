import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inLanes } from '../env/in-lanes.ts';
import { startWorld, type World } from '../env/world.ts';

const REQUESTS = 300;
const LANES = 8;

let world: World;

beforeAll(async () => {
  world = await startWorld({ process: true });
});
afterAll(() => world[Symbol.asyncDispose]());

test('junk bearers reach the issuer 0 times', async () => {
  const kinds = Object.values(await junk(world));
  expect((await world.sign()).status).toBe(200);
  world.issuer.resetCounts();
  const statuses = await inLanes(REQUESTS, LANES, async (index) => {
    const make = kinds[index % kinds.length];
    const bearer = make?.() ?? '';
    return (await world.sign({ bearer })).status;
  });
  console.log(
    `${REQUESTS} junk bearers of ${kinds.length} kinds, answers ${JSON.stringify(tally(statuses))}`,
  );
  expect(tally(statuses)).toEqual({ 401: REQUESTS });
  expect(Object.values(world.issuer.counts).reduce((sum, count) => sum + count)).toBe(0);
}, 120_000);

/** Generators of credentials that can be refused by their form, header or claims, without asking the issuer. */
async function junk({ issuer }: World): Promise<Record<string, () => string>> {
  const [signed, unsigned, hmac, idToken, stranger] = await Promise.all([
    issuer.token(),
    issuer.token({ forge: 'none' }),
    issuer.token({ forge: 'hmac' }),
    issuer.token({ header: { typ: 'JWT' } }),
    issuer.token({ claims: { iss: 'https://issuer.example' } }),
  ]);
  const others = await Promise.all([
    issuer.token({ claims: { aud: 'https://api.example/v1' } }),
    issuer.token({ claims: { exp: 1 } }),
    issuer.token({ claims: { sub: undefined } }),
    issuer.token({ claims: { cnf: { jkt: 'x' } } }),
  ]);
  const [header, payload, signature] = signed.split('.');
  const random = (bytes: number) => randomBytes(bytes).toString('base64url');
  return {
    short: () => random(15),
    long: () => random(6200),
    alphabet: () => `${random(12)}§${random(12)}`,
    spaced: () => `${random(12)} ${random(12)}`,
    key: () => `sk-${random(32)}`,
    keyOfNobody: () => `sk-ori-v1-${randomBytes(32).toString('hex')}`,
    keyUpperCase: () => `sk-ori-v1-${randomBytes(32).toString('hex').toUpperCase()}x`,
    encrypted: () => `eyJ${random(8)}.${random(8)}.${random(8)}.${random(8)}.${random(8)}`,
    dots: () => `${random(20)}.${random(20)}.${random(20)}`,
    emptyParts: () => '..',
    noPayload: () => `${header}..${signature}`,
    header: () => `${random(20)}.${payload}.${signature}`,
    unsigned: () => unsigned,
    hmac: () => hmac,
    idToken: () => idToken,
    stranger: () => stranger,
    ...Object.fromEntries(others.map((token, index) => [`claims${index}`, () => token])),
  };
}

function tally(statuses: readonly number[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
