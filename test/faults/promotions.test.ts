import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { startPostgres } from '../env/postgres-server.ts';
import { startSentinelPair } from '../env/redis-sentinel.ts';
import { startTcpProxy } from '../env/tcp-proxy.ts';
import { renderTable } from '../env/text-table.ts';
import { startWorld, type World } from '../env/world.ts';
import { startLoad } from '../shipped/constant-load.ts';
import { ask } from '../wings/exactly-once/postgres-single.ts';

const PER_SECOND = 50;
/** After which an operator promotes the standby. */
const NOTICED_MS = 3000;
const DOCUMENT = readFileSync(new URL('../../deploy/high-availability.md', import.meta.url), 'utf8');
const table = [['what happens', 'calls', 'failed', 'seconds of calls']];
afterAll(() => console.log(renderTable(table)));

interface Failure {
  readonly retryable: boolean;
  readonly status: number;
}

/**
 * Calls a signer while `happen` runs and until it signs again; each call that fails is repeated until it succeeds. The
 * calls that failed at first must be as few as the document says, and all marked as retryable.
 */
async function measure(what: string, world: World, happen: () => Promise<unknown>): Promise<void> {
  const row = DOCUMENT.split('\n').find((line) => line.startsWith(`| ${what} |`)) ?? '';
  const [, secondsMax] = /\| at most (\d+) s \|/.exec(row) ?? [];
  const bearer = await world.token();
  const load = startLoad(PER_SECOND, async () => {
    const failures: Failure[] = [];
    for (;;) {
      const { status, text } = await world.sign({ bearer });
      if (status === 200) return failures;
      failures.push({ status, retryable: JSON.parse(text).error.metadata?.retryable === true });
      await pause(100);
    }
  });
  await pause(500);
  await happen();
  await world.ready();
  await pause(500);
  const outcomes = await load.end();
  const calls = outcomes.map((outcome) =>
    outcome.status === 'fulfilled' ? outcome.value : [outcome.reason],
  );
  const failed = calls.filter(({ length }) => length > 0);
  table.push([what, ...[calls.length, failed.length, failed.length / PER_SECOND].map(String)]);
  const odd = calls.flat().filter(({ status, retryable }) => status !== 500 || !retryable);
  expect(odd).toEqual([]);
  expect(failed.length).toBeLessThanOrEqual(Number(secondsMax) * PER_SECOND);
}

it('a Redis primary that is killed, and one that Sentinel replaces', async () => {
  await using pair = await startSentinelPair({ downAfterMs: 1000 });
  await using world = await startWorld({ process: true, redis: pair });
  const former = await pair.primary();
  await measure('Redis killed', world, async () => {
    await former.kill();
    await pair.failedOver(former);
  });
  await pair.rejoin(former);
  await pair.whole();
  await measure('Redis replaced by `SENTINEL FAILOVER`', world, async () =>
    pair.failOver(await pair.primary()),
  );
});

it('a PostgreSQL primary that is killed, whose standby is promoted, and whose address moves', async () => {
  await using primary = await startPostgres();
  await primary.stop();
  await using standby = await startPostgres({ copyOf: primary, standbyOf: primary });
  await primary.start();
  // As an address that follows the primary.
  await using address = await startTcpProxy(primary.port);
  const url = new URL(primary.url);
  url.port = String(address.port);
  await using world = await startWorld({ process: true, postgres: { url: url.href } });
  const [follows] = await ask(primary.url, 'SELECT pg_current_wal_lsn() AS lsn');
  const behind = `SELECT pg_wal_lsn_diff('${follows?.['lsn']}', pg_last_wal_replay_lsn()) <= 0 AS done`;
  await expect.poll(async () => (await ask(standby.url, behind))[0]?.['done']).toBe(true);
  await measure('PostgreSQL killed, promoted after 3 s', world, async () => {
    await primary.kill();
    await pause(NOTICED_MS);
    await ask(standby.url, 'SELECT pg_promote()');
    address.move(standby.port);
  });
});
