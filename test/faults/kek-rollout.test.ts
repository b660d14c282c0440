import { createHash } from 'node:crypto';
import { copyFile, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createSigningKey } from '@ori/proof/signing';
import { countByKek } from '@ori/store/admin';
import { type KekRing, open, parseKekRing, seedContext } from '@ori/store/sealing';
import { CompactEncrypt } from 'jose';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { createOriAdmin } from '../e2e/ori-admin-process.ts';
import { createHttpClient, type HttpClient } from '../env/http-client.ts';
import { freePort } from '../env/ports.ts';
import { openRoom } from '../env/room.ts';
import { hostAsProcess } from '../env/signer-host.ts';
import { SIGN_BODY, startWorld, type World } from '../env/world.ts';

const FULL = process.env['KEK_ROLLOUT'] === 'full';
const { rows, kills } = FULL ? { rows: 100_000, kills: 20 } : { rows: 4000, kills: 2 };
const CALL_EVERY_MS = 100;
const PAGE = 1000;

test(`replaces the KEK of two signers while each is called, over ${kills} kills: none of ${rows} keys is lost`, {
  timeout: FULL ? 1_800_000 : 60_000,
}, async () => {
  await using stack = new AsyncDisposableStack();
  const { directory } = stack.use(await openRoom('ori-kek-rollout'));
  const world = stack.use(await startWorld({ process: true }));
  const first = { http: world.http, opsUrl: world.opsUrl, ring: world.environment['SIGNER_KEK_FILE'] ?? '' };
  const second = await startSecond(world, stack, directory);
  const signers: Instance[] = [first, second];
  const former = parseKekRing(world.kekText);
  await insertKeys(world, former);

  const ring = join(directory, 'signer-kek.json');
  await copyFile(first.ring, ring);
  const admin = createOriAdmin({
    ORI_ADMIN_DATABASE_URL: world.databaseUrl,
    ORI_ADMIN_SIGNER_KEK_FILE: ring,
  });
  const instances = ['--instances', signers.map(({ opsUrl }) => opsUrl).join(',')];
  const next = (step: string) => join(directory, `${step}.json`);
  const load = startLoad(world, signers);
  stack.defer(async () => void (await load.stop()));

  await admin.get('kek', 'generate', 'signer', '--add-to', ring, '--out', next('added'));
  await put(next('added'), ring);
  const kid = parseKekRing(await readFile(ring, 'utf8')).kids[1] ?? '';
  const promote = ['kek', 'promote', 'signer', kid, ...instances, '--out', next('promoted')];
  await install(next('added'), [first]);
  const early = await admin.run(promote);
  expect(early).toMatchObject({ exit: 4, stderr: expect.stringContaining(`${second.opsUrl} holds`) });
  await install(next('added'), [second]);
  await admin.get(...promote);
  await put(next('promoted'), ring);
  await install(next('promoted'), signers);

  const begun = performance.now();
  const reseal = ['kek', 'reseal', 'signer', ...instances];
  let killed = 0;
  for (let turn = 0; turn < kills; turn++) {
    const share = ((turn + Math.random()) / kills) * rows;
    const ended = new AbortController();
    const { exit, stderr } = await admin.run(reseal, {
      killWhen: resealed(world, { kid, share, signal: ended.signal }),
    });
    ended.abort();
    if (exit === null) killed++;
    else expect(exit, stderr).toBe(0);
  }
  expect(killed).toBeGreaterThan(0);
  await admin.get(...reseal);
  const seconds = Math.round((performance.now() - begun) / 1000);
  await admin.get('kek', 'remove', 'signer', former.primary.kid, ...instances, '--out', next('removed'));
  await install(next('removed'), signers);

  const calls = await load.stop();
  expect(calls.failed).toEqual([]);
  expect(calls.signed).toBeGreaterThan(0);
  expect(await countLost(world, parseKekRing(await readFile(next('removed'), 'utf8')))).toBe(0);
  // A ring is complete only if a signer also starts with it.
  await second.signer.stop();
  await second.signer.start();
  expect((await call(world, second, 0)).status).toBe(200);
  if (FULL) console.log({ rows, killed, seconds, signed: calls.signed });
});

interface Instance {
  readonly http: HttpClient;
  readonly opsUrl: string;
  /** The file of its ring. */
  readonly ring: string;
}

async function startSecond(world: World, stack: AsyncDisposableStack, folder: string) {
  const [port, opsPort] = [await freePort(), await freePort()];
  const ring = join(folder, 'second.json');
  await copyFile(world.environment['SIGNER_KEK_FILE'] ?? '', ring);
  const environment = {
    ...world.environment,
    SIGNER_PORT: String(port),
    SIGNER_OPS_PORT: String(opsPort),
    SIGNER_KEK_FILE: ring,
    SIGNER_AUDIT_FILE: join(folder, 'audit.jsonl'),
  };
  const signer = stack.use(await hostAsProcess(environment, stack.use(await openRoom('ori-second'))));
  const http = stack.use(createHttpClient(`http://127.0.0.1:${port}/v1`));
  return { http, ring, signer, opsUrl: `http://127.0.0.1:${opsPort}` };
}

/** Replaces a file at once, as an operator should: a reader finds the former or the next. */
async function put(from: string, to: string): Promise<void> {
  await copyFile(from, `${to}.new`);
  await rename(`${to}.new`, to);
}

/** Replaces the rings of running signers, and waits until each has read its own. */
async function install(file: string, signers: readonly Instance[]): Promise<void> {
  const { kids } = parseKekRing(await readFile(file, 'utf8'));
  for (const { opsUrl, ring } of signers) {
    await put(file, ring);
    const held = async () => {
      const page = await (await fetch(`${opsUrl}/metrics`)).text();
      const lines = [...page.matchAll(/^ori_kek\{kid="([^"]+)",use="(seals|opens)"/gm)];
      const seals = lines.filter(([, , use]) => use === 'seals');
      return { kids: lines.map(([, kid]) => kid).sort(), seals: seals.map(([, kid]) => kid) };
    };
    await expect.poll(held, { timeout: 10_000 }).toEqual({ kids: [...kids].sort(), seals: [kids[0]] });
  }
}

const keyId = (index: number): string => `key_${String(index).padStart(8, '0')}`;
const internOf = (index: number): string => `int_${String(index).padStart(8, '0')}`;
const seedOf = (id: string): Uint8Array => createHash('sha256').update(id).digest();

/** Interns with a key each, sealed under the first KEK of the ring. */
async function insertKeys({ store, demo }: World, { primary: { kid, key } }: KekRing): Promise<void> {
  const make = async (index: number) => {
    const [id, internId] = [keyId(index), internOf(index)];
    const seed = seedOf(id);
    const ctx = { table: 'signing_keys', column: 'sealed_seed', row: id, internId };
    const header = { alg: 'A256GCMKW', enc: 'A256GCM', kid, ctx } as const;
    const sealed = await new CompactEncrypt(seed).setProtectedHeader(header).encrypt(key);
    return { id, internId, sealed, ...createSigningKey(seed) };
  };
  for (let done = 0; done < rows; done += PAGE) {
    const made = await Promise.all(Array.from({ length: PAGE }, (_, index) => make(done + index)));
    const list = <Name extends keyof (typeof made)[number]>(name: Name) => made.map((one) => one[name]);
    await store.kysely.transaction().execute(async (tx) => {
      await sql`set local session_replication_role = replica`.execute(tx);
      await sql`insert into interns (id, organization_id, workspace_id, name, status)
        select id, ${demo.organizationId}, ${demo.workspaceId}, id, 'running'
        from unnest(${list('internId')}::text[]) id`.execute(tx);
      await sql`insert into signing_keys (id, intern_id, kid, public_key, sealed_seed, kek, not_before)
        select *, ${kid}, 0 from unnest(${list('id')}::text[], ${list('internId')}::text[], ${list('kid')}::text[],
          ${list('publicKey')}::bytea[], ${list('sealed')}::text[])`.execute(tx);
    });
  }
  await sql`analyze`.execute(store.kysely);
}

/** Resolves when this many keys are sealed under the KEK, or the process that seals them has ended. */
async function resealed(
  { store }: World,
  { kid, share, signal }: { kid: string; share: number; signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted && ((await countByKek(store, 'signer')).get(kid) ?? 0) < share) await pause(20);
}

async function call(world: World, { http }: Instance, index: number) {
  const headers = ['Authorization', `Bearer ${await world.token()}`, 'Content-Type', 'application/json'];
  const path = `/v1/interns/${internOf(index)}/daemon/sign`;
  return await http.ask({ method: 'POST', path, headers, body: SIGN_BODY });
}

/** Calls random interns, so that almost every call opens a key that its signer has not opened before. */
function startLoad(world: World, signers: readonly Instance[]) {
  const failed: string[] = [];
  let [signed, running] = [0, true];
  const callers = signers.map(async (signer) => {
    while (running) {
      const index = Math.floor(Math.random() * rows);
      const outcome = call(world, signer, index).then(
        ({ status, text }) => (status === 200 ? signed++ : failed.push(`${status} ${text}`)),
        (error) => failed.push(String(error)),
      );
      await Promise.all([outcome, pause(CALL_EVERY_MS)]);
    }
  });
  return {
    stop: async () => {
      running = false;
      await Promise.all(callers);
      return { signed, failed };
    },
  };
}

/** The keys that the ring does not open, or opens to another seed. */
async function countLost({ store }: World, ring: KekRing): Promise<number> {
  const stored = await store.kysely
    .selectFrom('signing_keys')
    .select(['id', 'intern_id', 'sealed_seed'])
    .execute();
  const found = new Map(stored.map((row) => [row.id, row]));
  let lost = 0;
  for (let index = 0; index < rows; index++) {
    const row = found.get(keyId(index));
    const seed =
      row &&
      (await open(ring, row.sealed_seed, seedContext({ id: row.id, internId: row.intern_id })).catch(
        () => undefined,
      ));
    if (seed === undefined || Buffer.compare(seed, seedOf(keyId(index))) !== 0) lost++;
  }
  return lost;
}
