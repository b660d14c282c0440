import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect, onTestFinished } from 'vitest';
import { createLocalKeySet } from '../../../libs/public/verifier/src/keys/local.ts';
import type { VerifierOptions } from '../../../libs/public/verifier/src/policy.ts';
import { POSTGRES_REPLAY_SQL } from '../../../libs/public/verifier/src/replay/postgres/schema.ts';
import {
  type PostgresReplayStoreOptions,
  postgresReplayStore,
} from '../../../libs/public/verifier/src/replay/postgres/store.ts';
import type { SignedRequest } from '../../../libs/public/verifier/src/request.ts';
import {
  createTestSigner,
  type TestProofOptions,
} from '../../../libs/public/verifier/src/testing/testing.ts';
import { createVerifier } from '../../../libs/public/verifier/src/verifier.ts';
import { type PostgresOptions, type PostgresServer, startPostgres } from '../../env/postgres-server.ts';

/** The settings that the store requires. The servers of other tests are faster and less durable. */
export const DURABLE = ['fsync=on', 'full_page_writes=on'];

/** A private PostgreSQL with settings that the store accepts, and the schema. */
export async function startLedgerServer(options: PostgresOptions = {}): Promise<PostgresServer> {
  const settings = [...DURABLE, ...(options.settings ?? [])];
  const server = await startPostgres({ ...options, settings });
  if (options.copyOf === undefined) await query(server.url, POSTGRES_REPLAY_SQL);
  return server;
}

/** One query on its own connection. */
export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(text)).rows ?? [];
  } finally {
    await client.end();
  }
}

/** Gives a setting of the server a value, in SQL, or its default, and waits until a new session sees the change. */
export async function configure(url: string, name: string, value?: string): Promise<void> {
  const had = await query(url, `SHOW ${name}`);
  // A session that can write, whatever the current default is.
  const admin = new pg.Client({ connectionString: url, options: '-c default_transaction_read_only=off' });
  await admin.connect();
  await admin.query(`ALTER SYSTEM ${value === undefined ? `RESET ${name}` : `SET ${name} = ${value}`}`);
  await admin.query('SELECT pg_reload_conf()');
  await admin.end();
  await expect.poll(() => query(url, `SHOW ${name}`)).not.toEqual(had);
}

/** What tells a proof from others: no nonce in version 1, and in both versions the id that version 1 is spent under. */
export interface SpentProof {
  readonly nonce: Buffer | null;
  readonly olderSeconds?: number;
  readonly v1Id?: Buffer;
}

/** What the function says with which the store spends. */
export async function spendBy(
  client: pg.ClientBase,
  internId: string,
  { nonce, olderSeconds = 0, v1Id = Buffer.alloc(32, 9) }: SpentProof,
): Promise<unknown> {
  const now = Date.now() / 1000;
  const proof = [internId, Math.floor(now) - olderSeconds, nonce, v1Id, now];
  const { rows } = await client.query(
    'SELECT verdict FROM ori_replay.spend($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12)',
    [...proof, 0, '', '0/0', 690, 2, 0, 5000],
  );
  return rows[0].verdict;
}

/** A pool that is closed after the test. */
export function openPool(url: string, options: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 10, connectionTimeoutMillis: 10_000, ...options });
  pool.on('error', () => undefined);
  onTestFinished(() => void pool.end().catch(() => undefined));
  return pool;
}

/** Backdates the store by 1,000 s, so that a test need not wait for its fence. */
export async function plantOldEvent(url: string): Promise<void> {
  await query(
    url,
    `UPDATE ori_replay.ledger SET event = ori_replay.clock() - 1000, identity = ori_replay.identity(),
       file = pg_relation_filenode('ori_replay.spent')`,
  );
}

/** A generous timeout for busy machines; tests of timeouts set their own. */
const PATIENT_MS = 5000;

/** A daemon of a new intern on this server, its signer, and the store behind it. */
export async function daemonOn(
  server: Pick<PostgresServer, 'url'>,
  options: Partial<PostgresReplayStoreOptions> & Pick<VerifierOptions, 'acceptV1' | 'now'> = {},
) {
  const { acceptV1, now, ...storeOptions } = options;
  const internId = `int_${randomBytes(8).toString('hex')}`;
  const signer = createTestSigner({ internId });
  const keys = createLocalKeySet(signer.jwks);
  const verifierOn = (url: string, more: Partial<PostgresReplayStoreOptions> = {}) => {
    const pool = openPool(url);
    const replay = postgresReplayStore(pool, {
      replicas: 0,
      timeoutMs: PATIENT_MS,
      ...(now && { now }),
      ...storeOptions,
      ...more,
    });
    onTestFinished(() => replay.close());
    return { pool, replay, verifier: createVerifier({ internId, keys, replay, acceptV1, now }) };
  };
  const request = (proof: Partial<TestProofOptions> = {}): SignedRequest =>
    signer.request({ path: '/api/invoke', body: '{}', ...proof });
  await plantOldEvent(server.url);
  const world = { internId, signer, request, verifierOn, ...verifierOn(server.url) };
  await world.replay.touch().catch(() => undefined);
  return world;
}

/** Moves the server's clock ahead or back by some seconds. */
export async function stepClock(url: string, seconds: number): Promise<void> {
  await query(
    url,
    `CREATE OR REPLACE FUNCTION ori_replay.clock() RETURNS double precision LANGUAGE sql VOLATILE
     AS $$ SELECT extract(epoch FROM pg_catalog.clock_timestamp())::double precision + ${seconds} $$`,
  );
}
