import { startPostgres } from '@ori/test-env/postgres-server';
import { startRedis } from '@ori/test-env/redis';
import pg from 'pg';
import { POSTGRES_REPLAY_SQL } from '../../../libs/public/verifier/src/replay/postgres/schema.ts';
import { installPython } from '../ports/python-environment.ts';
import { type Plan, runLanguages } from './run.ts';

/**
 * Two Node and three Python daemons on one store, killed while they are presented proofs: `node test/wings/languages/main.ts [PROOFS]`,
 * 5,000 by default, each presented four times. Exits with 1 if a proof was accepted twice or a kept answer was another.
 */
const proofs = Number(process.argv[2] ?? 5000);
const python = installPython();
if (python === undefined) process.exit(2);
await using redis = await startRedis();
await using postgres = await startPostgres({ settings: ['fsync=on', 'full_page_writes=on'] });
const owner = new pg.Client({ connectionString: postgres.url });
await owner.connect();
await owner.query(POSTGRES_REPLAY_SQL);
await owner.end();
const plans: readonly Pick<Plan, 'store' | 'url' | 'mode' | 'driver'>[] = [
  { store: 'redis', url: redis.url, mode: 'spend', driver: 'psycopg' },
  { store: 'redis', url: redis.url, mode: 'redeem', driver: 'psycopg' },
  { store: 'postgres', url: postgres.url, mode: 'spend', driver: 'psycopg' },
  { store: 'postgres', url: postgres.url, mode: 'spend', driver: 'asyncpg' },
];
for (const plan of plans) {
  const { acceptedBy, kept, ...tally } = await runLanguages({ ...plan, python, proofs, killEveryMs: 700 });
  const flat = [tally, acceptedBy, kept].flatMap((counts) => Object.entries(counts).flat());
  console.log(`${plan.store} ${plan.mode} ${plan.driver}: ${flat.join(' ')}`);
  if (tally.twice + kept.wrong > 0) process.exitCode = 1;
}
