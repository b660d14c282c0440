import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inLanes } from '@ori/test-env/in-lanes';
import { startPostgres } from '@ori/test-env/postgres-server';
import { startRedis } from '@ori/test-env/redis';
import pg from 'pg';
import { POSTGRES_REPLAY_SQL } from '../../../libs/public/verifier/src/replay/postgres/schema.ts';
import { startKeyServer } from '../../conformance/daemon/key-server.ts';
import { runSuite, startedBy } from '../../conformance/daemon/suite.ts';

/**
 * Runs the suite for daemons against `ori_proof` under each server of Python, and on each store, and prints a table:
 * `node test/wings/ports/python-servers.ts [PART OF A NAME]`. It installs the servers first. Exits with 1 if a check failed.
 */
const PACKAGES = [
  ...['cryptography==50.0.2', 'fastapi==0.165.0', 'flask==3.1.3', 'django==5.2.19', 'redis==8.1.0'],
  ...['psycopg[binary]==3.3.9', 'asyncpg==0.32.0', 'uvicorn==0.54.0', 'httptools==0.9.0', 'granian==2.8.9'],
  ...['hypercorn==0.18.0', 'gunicorn==27.0.1', 'uvicorn-worker==0.4.0'],
];
const HOME = join(import.meta.dirname, '../../../node_modules/.cache/python-servers');
const PYTHON = join(HOME, 'bin/python3');
const LAUNCH = join(import.meta.dirname, 'python/launch.py');

interface Cell {
  readonly server: string;
  readonly kind: string;
  readonly store?: string;
}

const CELLS: readonly Cell[] = [
  ...['uvicorn-h11', 'uvicorn-httptools', 'hypercorn', 'granian', 'gunicorn-asgi', 'gunicorn-uvicorn'].map(
    (server) => ({
      server,
      kind: 'asgi',
    }),
  ),
  ...['fastapi', 'mounted', 'django-asgi'].map((kind) => ({ server: 'uvicorn-h11', kind })),
  ...['wsgi', 'django', 'flask'].map((kind) => ({ server: 'gunicorn-wsgi', kind })),
  ...['redis', 'psycopg', 'asyncpg'].flatMap((store) => [
    { server: 'uvicorn-h11', kind: 'asgi', store },
    { server: 'gunicorn-wsgi', kind: 'wsgi', store },
  ]),
];

if (!existsSync(PYTHON)) {
  execFileSync('python3', ['-m', 'venv', HOME]);
  execFileSync(PYTHON, ['-m', 'pip', 'install', '--quiet', ...PACKAGES], { stdio: 'inherit' });
}
await using redis = await startRedis();
await using postgres = await startPostgres({ settings: ['fsync=on', 'full_page_writes=on'] });
const owner = new pg.Client({ connectionString: postgres.url });
await owner.connect();
await owner.query(POSTGRES_REPLAY_SQL);
await owner.end();

const urlOf = (store: string | undefined): string => {
  if (store === undefined) return 'memory';
  return store === 'redis' ? redis.url : postgres.url;
};
const nameOf = ({ server, kind, store = 'memory' }: Cell): string => `${server} ${kind} ${store}`;
const wanted = CELLS.filter((cell) => nameOf(cell).includes(process.argv[2] ?? ''));
await inLanes(wanted.length, 2, async (index) => {
  const cell = wanted[index] as Cell;
  await using keyServer = await startKeyServer();
  const answers = cell.kind === 'asgi' || cell.kind === 'wsgi';
  const environment = ['env', `DRIVER=${cell.store}`, PYTHON, LAUNCH, cell.server, cell.kind];
  const command = [...environment, '{intern}', '{jwks}', urlOf(cell.store), ...(answers ? ['answers'] : [])];
  const options = { path: '/api/invoke', bodyBytesMax: 1e6, isFetch: cell.server !== 'gunicorn-wsgi' };
  const outcomes = await runSuite(
    startedBy(command, keyServer, 'ignore'),
    { ...options, answers, only: undefined },
    () => {},
  );
  const missed = outcomes.filter(({ difference }) => difference !== undefined);
  const failed = missed.filter(({ isUnseen }) => isUnseen !== true);
  const unseen = missed.filter(({ isUnseen }) => isUnseen).map(({ sentence }) => sentence);
  if (failed.length > 0) process.exitCode = 1;
  const counts = `${outcomes.length - missed.length} of ${outcomes.length}`;
  console.log(
    `| ${nameOf(cell)} | ${counts} | ${failed.length} FAILED | unseen ${[...new Set(unseen)].join(' ') || 'none'} |`,
  );
  for (const { sentence, title, difference } of failed) console.log(`  ${sentence} ${title}: ${difference}`);
});
