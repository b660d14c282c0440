import { randomBytes } from 'node:crypto';
import { addSigningKey, createApiKey } from '@ori/store/admin';
import { parseKekRing } from '@ori/store/sealing';
import { sql } from 'kysely';
import pg from 'pg';
import { freePort } from '../env/ports.ts';
import { startPostgres } from '../env/postgres.ts';
import { shipped } from '../env/programs.ts';
import { startRedis } from '../env/redis.ts';
import { openRoom } from '../env/room.ts';
import { ServerProcess } from '../env/server-process.ts';
import { startWorld, type World } from '../env/world.ts';
import { pin } from './process-cost.ts';

/** A signer and a management service on a database with a given number of interns, each with a signing key. */
export interface Town extends AsyncDisposable {
  readonly interns: number;
  readonly world: World;
  readonly managementPort: number;
  /** An API key that can list every intern. */
  readonly apiKey: string;
  /** `starting_after` of the last page. */
  readonly deepest: string;
  /** The next intern with a usable key that no request has named yet, from anywhere in the table. */
  nextIntern(): CallableIntern;
}

export interface CallableIntern {
  readonly internId: string;
  readonly publicKey: Uint8Array;
}

/** The default of `GET /interns`. */
export const PAGE = 50;

/** A small and a large database on the same servers. */
export interface InternStage extends AsyncDisposable {
  readonly small: Town;
  readonly large: Town;
}

export async function openInternStage(largeSize: number, callable: number): Promise<InternStage> {
  await using stack = new AsyncDisposableStack();
  const servers = { redis: stack.use(await startRedis()), postgres: stack.use(await startPostgres()) };
  const small = stack.use(await openTown(servers, 1000, callable));
  const large = stack.use(await openTown(servers, largeSize, callable));
  const owned = stack.move();
  return { small, large, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

type Servers = Required<Pick<NonNullable<Parameters<typeof startWorld>[0]>, 'redis' | 'postgres'>>;

async function openTown(servers: Servers, interns: number, callable: number): Promise<Town> {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await startWorld({ process: true, ...servers }));
  if (world.signer.pid !== undefined) pin(world.signer.pid, 'servers');
  await fillWithInterns(world, interns);
  const left = await unlockSome(world, interns, callable);
  const { workspaceId } = world.demo;
  const { key: apiKey } = await createApiKey(world.store, { kind: 'api', name: 'bench', workspaceId });
  const managementPort = await startManagementOf(world, stack);
  const deepest = await deepestCursor(world);
  const owned = stack.move();
  return {
    ...{ interns, world, managementPort, apiKey, deepest },
    nextIntern() {
      const next = left.pop();
      if (next === undefined) throw new Error('every intern of this database was already used');
      return next;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Starts the management service as it ships, on the world's database. @returns its port */
export async function startManagementOf(
  world: World,
  stack: AsyncDisposableStack,
  environment: Readonly<Record<string, string>> = {},
): Promise<number> {
  const managementPort = await freePort();
  const room = stack.use(await openRoom('ori-bench-management'));
  const management = new ServerProcess({
    room,
    program: process.execPath,
    arguments: [await shipped('management/ori-management')],
    ready: /"msg":"listening"/,
    farewell: 'KILL',
    environment: {
      MANAGEMENT_PORT: String(managementPort),
      MANAGEMENT_OPS_PORT: String(await freePort()),
      MANAGEMENT_DATABASE_URL: world.managementDatabaseUrl,
      MANAGEMENT_ISSUER: world.issuer.url,
      MANAGEMENT_AUDIENCE: `http://127.0.0.1:${managementPort}/v1`,
      MANAGEMENT_KEK_FILE: world.managementKekFile,
      ...environment,
    },
  });
  stack.defer(() => management.end('SIGKILL'));
  await management.start();
  if (management.pid !== undefined) pin(management.pid, 'servers');
  return managementPort;
}

/** Interns of one workspace, created one second apart; their sealed seeds have the right size but cannot be opened. */
export async function fillWithInterns({ databaseUrl, demo }: World, interns: number): Promise<void> {
  const { organizationId, workspaceId, internId } = demo;
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    // Skips a million foreign key checks against rows that were just written.
    await client.query('set session_replication_role = replica');
    await client.query(
      `insert into interns (id, organization_id, workspace_id, name, description, hostname, status, created_at, updated_at)
       select 'int_' || lpad(n::text, 12, '0'), $1, $2, 'intern ' || n, 'does what interns do',
         'intern-' || n || '.example', 'running', now() - n * interval '1 second', now() - n * interval '1 second'
       from generate_series(1, $3::int) n`,
      [organizationId, workspaceId, interns - 1],
    );
    await client.query(
      `insert into signing_keys (id, intern_id, kid, public_key, sealed_seed, not_before)
       select 'key_' || lpad(n::text, 12, '0'), 'int_' || lpad(n::text, 12, '0'), rpad('kid' || n, 43, '-'),
         decode(md5(n::text) || md5('y' || n), 'hex'),
         (select rpad('', length(sealed_seed), 'x') from signing_keys where intern_id = $1), 0
       from generate_series(1, $2::int) n`,
      [internId, interns - 1],
    );
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

/** Gives interns in all parts of the table a usable key, in random order. */
async function unlockSome(world: World, interns: number, callable: number): Promise<CallableIntern[]> {
  const { store, kekText } = world;
  const sealer = parseKekRing(kekText);
  const step = Math.floor((interns - 1) / callable);
  if (step === 0) throw new RangeError(`${callable} of ${interns} interns cannot be callable`);
  const some: CallableIntern[] = [];
  for (let index = 0; index < callable; index++) {
    const internId = `int_${String(1 + ((index * 7919) % callable) * step).padStart(12, '0')}`;
    await sql`delete from signing_keys where intern_id = ${internId} and retired_at is null`.execute(
      store.kysely,
    );
    const { publicKey } = await addSigningKey(store, { internId, seed: randomBytes(32), sealer });
    some.push({ internId, publicKey });
  }
  return some;
}

async function deepestCursor({ store, demo }: World): Promise<string> {
  const before = await store.kysely
    .selectFrom('interns')
    .select(['id', 'created_at'])
    .where('workspace_id', '=', demo.workspaceId)
    .orderBy('created_at', 'asc')
    .orderBy('id', 'asc')
    .offset(PAGE)
    .limit(1)
    .executeTakeFirstOrThrow();
  return Buffer.from(`${before.created_at.toISOString()} ${before.id}`, 'latin1').toString('base64url');
}
