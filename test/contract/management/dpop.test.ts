import { openPostgres } from '@ori/store/postgres';
import { createDpopKey, dpopHeaders } from '@ori/test-env/dpop';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { databaseSpentProofs } from '../../../services/management/src/callers/spent-proofs.ts';
import { createDatabase } from '../../env/postgres.ts';
import { startManagementWorld, useManagementWorld } from './world.ts';

const world = await useManagementWorld();
const key = await createDpopKey('Ed25519');
const claims = { cnf: { jkt: key.thumbprint } };
const accessToken = await world.issuer.token({ subject: world.ours.subject, claims });
const url = `${world.baseUrl}/interns`;

const WHENEVER = { from: 0, until: 1e12 };

const list = (proof: string) =>
  world.call({
    path: '/interns',
    bearer: null,
    headers: dpopHeaders(accessToken, proof),
  });

test('lists interns for a bound session, once for each proof and with management’s own nonce', async () => {
  const challenge = await list(await key.proof({ method: 'GET', url, accessToken }));
  expect(challenge.status).toBe(401);
  expect(challenge.headers['www-authenticate']).toContain('error="use_dpop_nonce"');
  const nonce = String(challenge.headers['dpop-nonce']);
  const proof = await key.proof({ method: 'GET', url, accessToken, nonce });
  expect((await list(proof)).status).toBe(200);
  const replayed = await list(proof);
  expect([replayed.status, replayed.headers['www-authenticate']]).toEqual([
    401,
    expect.stringContaining('error="invalid_dpop_proof"'),
  ]);
});

test('a proof that one process took is refused by every other process, and after the database lost its run', async () => {
  await using other = await world.another();
  const challenge = await list(await key.proof({ method: 'GET', url, accessToken }));
  const nonce = String(challenge.headers['dpop-nonce']);
  const proof = await key.proof({ method: 'GET', url, accessToken, nonce });
  const ask = (path: string) => ({ path, bearer: null, headers: dpopHeaders(accessToken, proof) });
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? world : other).call(ask('/interns'))),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(401)]);
  // As after a restart, a restore or a failover: the run is not the one that the epoch was drawn in.
  const late = await key.proof({ method: 'GET', url, accessToken, nonce });
  await sql`update dpop_epoch set server = 'before'`.execute(world.store.kysely);
  const refused = await list(late);
  expect([refused.status, refused.headers['www-authenticate']]).toEqual([
    401,
    expect.stringContaining('error="use_dpop_nonce"'),
  ]);
  const renewed = String(refused.headers['dpop-nonce']);
  expect((await list(await key.proof({ method: 'GET', url, accessToken, nonce: renewed }))).status).toBe(200);
});

test('after its clock was ahead and was corrected, takes no proof of before once more', async () => {
  const aheadMs = 3_600_000;
  let now = () => Date.now() + aheadMs;
  await using mistaken = await startManagementWorld({ parts: { now: () => now() } });
  const token = await mistaken.issuer.token({
    subject: mistaken.ours.subject,
    claims,
    expiresInSeconds: 7200,
  });
  const at = `${mistaken.baseUrl}/interns`;
  const ask = async (nonce?: string) => {
    const proof = await key.proof({ method: 'GET', url: at, accessToken: token, ...(nonce && { nonce }) });
    return mistaken.call({ path: '/interns', bearer: null, headers: dpopHeaders(token, proof) });
  };
  const early = await ask();
  // Its nonces are not of the database's time.
  const refused = await ask(String(early.headers['dpop-nonce']));
  expect(refused.headers['www-authenticate']).toContain('error="use_dpop_nonce"');
  now = Date.now;
  const corrected = String((await ask()).headers['dpop-nonce']);
  expect((await ask(corrected)).status).toBe(200);
});

test('a proof of another time or epoch than the database’s is not spent, and makes it forget none', async () => {
  const spent = databaseSpentProofs(world.store);
  await spent.learn();
  const epoch = spent.epoch() ?? '';
  const [old, id] = ['o'.repeat(43), 'n'.repeat(43)];
  await sql`insert into spent_dpop_proofs (id, spent_at) values (${old}, now() - interval '1 hour')`.execute(
    world.store.kysely,
  );
  const ids = async () =>
    (await world.store.query<{ id: string }>('select id from spent_dpop_proofs')).map((row) => row.id);
  for (const other of [{ until: 1 }, { from: 1e12 }, { epoch: 'another' }]) {
    expect(await spent.spend({ id, epoch, ...WHENEVER, ...other })).toBe('forgotten');
    expect(await ids()).toEqual(expect.arrayContaining([old]));
    expect(await ids()).not.toContain(id);
  }
  expect(await spent.spend({ id, epoch, ...WHENEVER })).toBe('spent');
  expect(await ids()).not.toContain(old);
});

test('keeps a spent proof for three minutes, longer than it takes one', async () => {
  const spent = databaseSpentProofs(world.store);
  await spent.learn();
  const spend = (letter: string) =>
    spent.spend({ id: letter.repeat(43), epoch: spent.epoch() ?? '', ...WHENEVER });
  const insert = `insert into spent_dpop_proofs values ($1, now() - $2::int * interval '1 second')`;
  await world.store.query(insert, ['a'.repeat(43), 170]);
  await world.store.query(insert, ['b'.repeat(43), 190]);
  expect([await spend('c'), await spend('a'), await spend('b')]).toEqual(['spent', 'replayed', 'spent']);
});

test('takes no proof of before on a dump that was restored beside the database, or in its place', async () => {
  await using restored = await createDatabase();
  const copy = openPostgres({ url: restored.url, poolMax: 1 });
  onTestFinished(() => copy.close());
  const spent = databaseSpentProofs(world.store);
  await spent.learn();
  const epoch = spent.epoch() ?? '';
  const [row] = await world.store.query<{ server: string }>('select server from dpop_epoch');
  await copy.query('insert into dpop_epoch (server, epoch) values ($1, $2)', [row?.server, epoch]);
  expect(await databaseSpentProofs(copy).spend({ id: 'p'.repeat(43), epoch, ...WHENEVER })).toBe('forgotten');
});

test('refuses a proof without the claim over the content, and content that the proof does not cover', async () => {
  const asked = await list(await key.proof({ method: 'GET', url, accessToken }));
  const nonce = String(asked.headers['dpop-nonce']);
  const prove = (content: string, claims = {}) =>
    key.proof({ method: 'GET', url, accessToken, nonce, content, claims });
  for (const proof of [await prove('', { 'x-camara:bh': undefined }), await prove('{}')]) {
    const refused = await list(proof);
    expect([refused.status, refused.text]).toEqual([401, expect.stringContaining('x-camara:bh')]);
  }
  for (const covered of ['', '{}']) {
    const headers = [...dpopHeaders(accessToken, await prove(covered)), 'Content-Type', 'application/json'];
    expect((await world.call({ path: '/interns', bearer: null, headers, body: '{}' })).status).toBe(401);
  }
  expect((await list(await prove(''))).status).toBe(200);
});

test('where the claim is not required, takes a proof without it, and refuses one for another content', async () => {
  await using lenient = await startManagementWorld({ environment: { DPOP_REQUIRE_CONTENT: 'false' } });
  const token = await lenient.issuer.token({ subject: lenient.ours.subject, claims });
  const at = `${lenient.baseUrl}/interns`;
  const ask = (proof: string) =>
    lenient.call({ path: '/interns', bearer: null, headers: dpopHeaders(token, proof) });
  const nonce = String(
    (await ask(await key.proof({ method: 'GET', url: at, accessToken: token }))).headers['dpop-nonce'],
  );
  const prove = (claim: unknown) =>
    key.proof({ method: 'GET', url: at, accessToken: token, nonce, claims: { 'x-camara:bh': claim } });
  expect((await ask(await prove(undefined))).status).toBe(200);
  for (const claim of [null, 'x'.repeat(43)]) expect((await ask(await prove(claim))).status).toBe(401);
});

test('refuses a bound session as Bearer, and an unbound one or an API key as DPoP', async () => {
  expect((await world.call({ path: '/interns', bearer: accessToken })).status).toBe(401);
  for (const bearer of [await world.issuer.token({ subject: world.ours.subject }), world.ours.apiKey]) {
    const headers = ['Authorization', `DPoP ${bearer}`];
    expect((await world.call({ path: '/interns', bearer: null, headers })).status).toBe(401);
  }
});

test('where bound sessions are required, refuses every unbound one, and takes API keys', async () => {
  await using strict = await startManagementWorld({ environment: { REQUIRE_DPOP: 'true' } });
  const bearer = await strict.issuer.token({ subject: strict.ours.subject });
  const refused = await strict.call({ path: '/interns', bearer });
  expect([refused.status, refused.headers['www-authenticate']]).toEqual([
    403,
    expect.stringContaining('DPoP error="invalid_token"'),
  ]);
  expect((await strict.call({ path: '/interns', bearer: strict.ours.apiKey })).status).toBe(200);
});
