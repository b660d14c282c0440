import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type Database, openPostgres } from '@ori/store';
import {
  countByKek,
  createIntern,
  type ResealReport,
  resealSigningKeys,
  rotateSigningKey,
} from '@ori/store/admin';
import { extendKekRing, type KekRing, open, parseKekRing, promoteKek, seedContext } from '@ori/store/sealing';
import { CompactEncrypt } from 'jose';
import { sql } from 'kysely';
import { startPostgres } from '../env/postgres.ts';
import { startWorld, type World } from '../env/world.ts';

/**
 * `node test/faults/reseal.ts [ROWS] [KILLS]`: moves a deployment and replaces the KEK of its running, hardened signer.
 * ROWS seeds, sealed to another issuer and base address in the former form, are re-sealed by a process that is killed KILLS times, spread over the whole run, while calls are signed and the key that signs them
 * is rotated. Prints the seeds that can no longer be opened, the refused calls, and the rate of a second pass without kills.
 */
const CALLS_PER_SECOND = 10;
const ROTATE_EVERY_MS = 60_000;
const PAGE = 1000;
const seedOf = (id: string): string => id.padEnd(32);

interface Job {
  readonly url: string;
  readonly ring: string;
}

interface Outcome {
  readonly report: ResealReport;
  readonly ms: number;
  readonly cpuMs: number;
}

type News = { readonly done: number; readonly total: number } | Outcome;

if (process.send !== undefined) process.once('message', (job: Job) => reseal(job));
else await main(...(process.argv.slice(2).map(Number) as [number?, number?]));

async function reseal({ url, ring }: Job): Promise<void> {
  const db = openPostgres({ url, poolMax: 3, connectTimeoutMs: 30_000, statementTimeoutMs: 60_000 });
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  const report = await resealSigningKeys(db, {
    ring: parseKekRing(ring),
    onProgress: ({ done, total }) => process.send?.({ done, total } satisfies News),
  });
  const used = process.cpuUsage(cpu);
  const ms = performance.now() - start;
  process.send?.({ report, ms, cpuMs: (used.user + used.system) / 1000 } satisfies News);
  await db.close();
  process.disconnect();
}

async function main(rows = 100_000, kills = 20): Promise<void> {
  await using postgres = await startPostgres();
  await using world = await startWorld({ process: true, postgres });
  const db = openPostgres({ url: world.databaseUrl, poolMax: 4, statementTimeoutMs: 60_000 });
  const former = parseKekRing(world.kekText);
  await sealCalledInternFormerly(db, world, former);
  const { id: internId } = await createIntern(db, { workspaceId: world.demo.workspaceId, name: 'many' });
  await insertSeeds(db, { rows, internId, ring: former });
  const extended = extendKekRing(world.kekText, 'signer');
  await deploy(world, extended);
  const promoted = promoteKek(extended, 'signer', parseKekRing(extended).kids.at(-1) ?? '');
  await deploy(world, promoted);

  const load = startLoad(world, parseKekRing(promoted));
  const start = performance.now();
  const count = { killed: 0, 'failed by itself': 0 };
  while (count.killed < kills) {
    const share = ((count.killed + Math.random()) / kills) * rows;
    const end = await killAfter(startChild({ url: world.databaseUrl, ring: promoted }), share);
    if (end === 'done') break;
    count[end]++;
  }
  const last = await outcomeOf(startChild({ url: world.databaseUrl, ring: promoted }));
  const seconds = Math.round((performance.now() - start) / 1000);
  const left = (await countByKek(db)).get(former.primary.kid)?.seeds ?? 0;
  // Re-seals everything under the former KEK, which the signer still has, without kills.
  const again = promoteKek(promoted, 'signer', former.primary.kid);
  await deploy(world, again);
  const { report, ms, cpuMs } = await outcomeOf(startChild({ url: world.databaseUrl, ring: again }));
  const calls = await load.stop();
  console.log(
    JSON.stringify({
      ...{
        rows,
        ...count,
        seconds,
        left,
        resealedByTheLast: last.report.resealed,
        failed: last.report.failed.length,
      },
      again: {
        resealed: report.resealed,
        rowsPerSecond: Math.round((report.resealed * 1000) / ms),
        cpuMicrosecondsPerRow: Math.round((cpuMs * 1000) / report.resealed),
      },
      lost: await countLost(db, { internId, ring: former }),
      calls,
    }),
  );
  await db.close();
}

interface Seeds {
  readonly internId: string;
  readonly ring: KekRing;
}

/** A seed as it was sealed before seeds could move: to the issuer and the base address of another deployment. */
function sealFormerly({ primary: { kid, key } }: KekRing, seed: Uint8Array, id: string, internId: string) {
  const home = { issuer: 'https://former.test', baseUrl: 'https://former.test/v1' };
  const ctx = { table: 'signing_keys', column: 'sealed_seed', row: id, internId, ...home };
  return new CompactEncrypt(seed)
    .setProtectedHeader({ alg: 'A256GCMKW', enc: 'A256GCM', kid, ctx })
    .encrypt(key);
}

/** Replaces the sealed seed of the intern that is called by one of the former deployment. */
async function sealCalledInternFormerly({ kysely }: Database, { demo }: World, ring: KekRing): Promise<void> {
  const { internId, seed } = demo;
  const rows = kysely.selectFrom('signing_keys').select('id').where('intern_id', '=', internId);
  const { id } = await rows.executeTakeFirstOrThrow();
  const sealed_seed = await sealFormerly(ring, seed, id, internId);
  await kysely.updateTable('signing_keys').set({ sealed_seed }).where('id', '=', id).execute();
}

/** Inserts retired keys, so that no verifier or signer loads this many. */
async function insertSeeds(
  { kysely }: Database,
  { rows, internId, ring }: Seeds & { readonly rows: number },
): Promise<void> {
  await sql`alter table signing_keys disable trigger ori_audit_insert`.execute(kysely);
  for (let done = 0; done < rows; done += PAGE) {
    const ids = Array.from({ length: PAGE }, (_, index) => `key_${String(done + index).padStart(8, '0')}`);
    const sealed = await Promise.all(
      ids.map((id) => sealFormerly(ring, Buffer.from(seedOf(id)), id, internId)),
    );
    await sql`insert into signing_keys (id, intern_id, kid, public_key, sealed_seed, not_before, retired_at)
      select id, ${internId}, id, sha256(id::bytea), sealed, 0, now()
      from unnest(${ids}::text[], ${sealed}::text[]) as v (id, sealed)`.execute(kysely);
  }
  await sql`alter table signing_keys enable trigger ori_audit_insert`.execute(kysely);
  await sql`analyze signing_keys`.execute(kysely);
}

/** Gives the signer another ring and waits until it is loaded. */
async function deploy(world: World, ring: string): Promise<void> {
  const path = world.environment['SIGNER_KEK_FILE'] ?? '';
  if (readFileSync(path, 'utf8') !== ring) writeFileSync(path, ring);
  const line = `ori_kek{kid="${parseKekRing(ring).primary.kid}",use="seals"`;
  const all = parseKekRing(ring).kids;
  for (;;) {
    const { text } = await world.page('/metrics');
    if (text.includes(line) && all.every((kid) => text.includes(kid))) return;
    await pause(100);
  }
}

function startChild(job: Job): ChildProcess {
  const child = fork(import.meta.filename);
  child.send(job);
  return child;
}

/** Kills the process at a random moment after the given number of rows. */
async function killAfter(child: ChildProcess, rows: number): Promise<'killed' | 'failed by itself' | 'done'> {
  const reached = await new Promise<boolean>((resolve) => {
    child.on('message', (news: News) => {
      if ('report' in news) resolve(false);
      else if (news.done >= rows) resolve(true);
    });
    child.once('exit', () => resolve(false));
  });
  if (reached) {
    await pause(Math.random() * 200);
    child.kill('SIGKILL');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  if (child.signalCode === 'SIGKILL') return 'killed';
  return child.exitCode === 0 ? 'done' : 'failed by itself';
}

async function outcomeOf(child: ChildProcess): Promise<Outcome> {
  let outcome: Outcome | undefined;
  child.on('message', (news: News) => {
    if ('report' in news) outcome = news;
  });
  await once(child, 'exit');
  if (outcome === undefined) throw new Error('the process ended without a report');
  return outcome;
}

/** Signs calls while rotating the signing key. */
function startLoad(world: World, sealer: KekRing): { stop(): Promise<Record<string, unknown>> } {
  const counts = { signed: 0, refused: 0, rotated: 0 };
  const why = new Map<string, number>();
  const note = (text: string): void => void why.set(text, (why.get(text) ?? 0) + 1);
  const { internId } = world.demo;
  let running = true;
  const calls = (async () => {
    while (running) {
      const call = world.sign().then(
        ({ status, text }) => {
          if (status === 200) counts.signed++;
          else {
            counts.refused++;
            note(`${status} ${text.slice(0, 100)}`);
          }
        },
        (error) => note(String(error)),
      );
      await Promise.all([call, pause(1000 / CALLS_PER_SECOND)]);
    }
  })();
  const rotations = (async () => {
    for (let next = performance.now(); running; await pause(100)) {
      if (performance.now() < next) continue;
      next += ROTATE_EVERY_MS;
      await rotateSigningKey(world.store, { internId, sealer }).then(
        () => counts.rotated++,
        (error) => note(`rotation: ${error}`),
      );
    }
  })();
  return {
    async stop() {
      running = false;
      await Promise.all([calls, rotations]);
      return { ...counts, why: Object.fromEntries(why) };
    },
  };
}

async function countLost({ kysely }: Database, { internId, ring }: Seeds): Promise<number> {
  let lost = 0;
  for (let after = ''; ; ) {
    const page = await kysely
      .selectFrom('signing_keys')
      .select(['id', 'sealed_seed'])
      .where('intern_id', '=', internId)
      .where('id', '>', after)
      .orderBy('id')
      .limit(PAGE)
      .execute();
    for (const { id, sealed_seed } of page) {
      const seed = await open(ring, sealed_seed, seedContext({ id, internId })).catch(() => undefined);
      if (seed === undefined || Buffer.from(seed).toString() !== seedOf(id)) lost++;
    }
    after = page.at(-1)?.id ?? '';
    if (page.length < PAGE) return lost;
  }
}
