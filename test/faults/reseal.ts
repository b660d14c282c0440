import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { openPostgres } from '@ori/store';
import { createIntern, createOrganization, createWorkspace, resealSigningKeys } from '@ori/store/admin';
import { migrate } from '@ori/store/migrate';
import {
  extendKekRing,
  generateKekRing,
  open,
  parseKekRing,
  promoteKek,
  seal,
  seedContext,
} from '@ori/store/sealing';
import { sql } from 'kysely';
import { createDatabase, startPostgres } from '../env/postgres.ts';

/**
 * `node test/faults/reseal.ts [ROWS] [KILLS]`: re-seals so many seeds on a real PostgreSQL in a process that is killed
 * so many times, while rows are read and rotated, and prints how many are lost and how many rows a second it takes.
 */
const HOME = { issuer: 'https://issuer.test', baseUrl: 'https://api.test/v1' };

if (process.send !== undefined) {
  process.once('message', async ({ url, ring }: { url: string; ring: string }) => {
    const db = openPostgres({ url, poolMax: 2, statementTimeoutMs: 60_000 });
    const start = performance.now();
    const report = await resealSigningKeys(db, {
      ring: parseKekRing(ring),
      home: HOME,
      onProgress: ({ done }) => process.send?.({ done }),
    });
    await db.close();
    process.send?.({ resealed: report.resealed, kept: report.kept, ms: performance.now() - start });
    process.disconnect();
  });
} else await main(...(process.argv.slice(2).map(Number) as [number?, number?]));

async function main(rows = 100_000, kills = 20): Promise<void> {
  await using server = await startPostgres();
  await using database = await createDatabase({ migrated: false, server });
  const db = openPostgres({ url: database.url, poolMax: 4, statementTimeoutMs: 60_000 });
  await migrate(db);
  const text = generateKekRing('signer');
  const former = parseKekRing(text);
  const extended = extendKekRing(text, 'signer');
  const ring = promoteKek(extended, 'signer', parseKekRing(extended).kids.at(-1) ?? '');
  const { id: organizationId } = await createOrganization(db, { name: 'o' });
  const { id: workspaceId } = await createWorkspace(db, { organizationId, name: 'w', inProgramme: true });
  const { id: internId } = await createIntern(db, { workspaceId, name: 'i' });
  for (let done = 0; done < rows; done += 1000) {
    const ids = Array.from({ length: 1000 }, (_, index) => `key_${String(done + index).padStart(8, '0')}`);
    const sealed = await Promise.all(
      ids.map((id) => seal(former, Buffer.from(id.padEnd(32)), seedContext({ id, internId }, HOME))),
    );
    await sql`insert into signing_keys (id, intern_id, kid, public_key, sealed_seed, not_before, retired_at)
      select id, ${internId}, id, sha256(id::bytea), sealed, 0, now()
      from unnest(${ids}::text[], ${sealed}::text[]) as v (id, sealed)`.execute(db.kysely);
  }
  const totalStart = performance.now();
  const killed: ChildProcess[] = [];
  for (let n = 0; n < kills; n++) {
    const child = fork(import.meta.filename);
    child.send({ url: database.url, ring });
    // Killed in the middle of its work, not of its start.
    await Promise.race([once(child, 'message'), once(child, 'exit')]);
    await pause(Math.random() * 200);
    child.kill('SIGKILL');
    killed.push(child);
  }
  const child = fork(import.meta.filename);
  child.send({ url: database.url, ring });
  let report: { resealed?: number; kept?: number; ms?: number } = {};
  child.on('message', (told) => {
    report = told as typeof report;
  });
  await once(child, 'exit');
  const totalMs = performance.now() - totalStart;
  // Once more, from the former KEK's side: everything the other way round, without a kill, for the rate.
  const again = promoteKek(ring, 'signer', former.primary.kid);
  const start = performance.now();
  const { resealed } = await resealSigningKeys(db, { ring: parseKekRing(again), home: HOME });
  const rate = Math.round((resealed * 1000) / (performance.now() - start));
  let lost = 0;
  for (let after = ''; ; ) {
    const page = await db.kysely
      .selectFrom('signing_keys')
      .select(['id', 'sealed_seed'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(1000)
      .execute();
    for (const { id, sealed_seed } of page) {
      const seed = await open(former, sealed_seed, seedContext({ id, internId }, HOME)).catch(
        () => undefined,
      );
      if (seed === undefined || Buffer.from(seed).toString() !== id.padEnd(32)) lost++;
    }
    after = page.at(-1)?.id ?? '';
    if (page.length < 1000) break;
  }
  console.log(
    JSON.stringify({
      rows,
      kills: killed.length,
      last: report,
      totalSeconds: Math.round(totalMs / 1000),
      resealed,
      rowsPerSecond: rate,
      lost,
    }),
  );
  await db.close();
}
