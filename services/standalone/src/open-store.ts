import type { Secret } from '@ori/runtime/secret';
import type { Database } from '@ori/store/database';
import { migrate } from '@ori/store/migrate';
import { openPglite } from '@ori/store/pglite';
import { openPostgres } from '@ori/store/postgres';
import type { StoreRole } from '@ori/store/privileges/grant';

export interface Store {
  readonly owner: Database;
  readonly signer: Database;
  readonly management: Database;
  close(): Promise<void>;
}

/** A row of `switches` that marks a database written by a standalone. */
const MARK = 'standalone';

/** The database contains other organizations, and demo data must not be added to them. */
export class ForeignDatabaseError extends Error {
  constructor() {
    super(
      'the database contains organizations that no standalone wrote; set ORI_DATABASE_URL to an empty one',
    );
    this.name = 'ForeignDatabaseError';
  }
}

/**
 * Opens the database and migrates it to this version: on a PostgreSQL server if a URL is given, otherwise embedded in
 * this process and lost at `close`.
 *
 * @throws MigrationError for a database that is not empty and not made by ori
 * @throws ForeignDatabaseError, StoreUnavailable
 */
export async function openStore(databaseUrl: Secret | undefined): Promise<Store> {
  const store = databaseUrl === undefined ? await embedded() : served(databaseUrl);
  try {
    await migrate(store.owner);
    await requireOwn(store.owner);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function embedded(): Promise<Store> {
  const owner = await openPglite();
  return {
    owner,
    signer: owner.as('ori_signer'),
    management: owner.as('ori_management'),
    close: () => owner.close(),
  };
}

function served(databaseUrl: Secret): Store {
  const url = databaseUrl.reveal();
  const owner = openPostgres({ url, poolMax: 1, statementTimeoutMs: 0, applicationName: 'ori standalone' });
  const as = (role: StoreRole) => openPostgres({ url, role, applicationName: `ori standalone (${role})` });
  const [signer, management] = [as('ori_signer'), as('ori_management')];
  return {
    owner,
    signer,
    management,
    async close() {
      await Promise.all([owner.close(), signer.close(), management.close()]);
    },
  };
}

async function requireOwn({ kysely }: Database): Promise<void> {
  const marked = await kysely
    .selectFrom('switches')
    .select('name')
    .where('name', '=', MARK)
    .executeTakeFirst();
  if (marked !== undefined) return;
  const organization = await kysely.selectFrom('organizations').select('id').limit(1).executeTakeFirst();
  if (organization !== undefined) throw new ForeignDatabaseError();
  await kysely.insertInto('switches').values({ name: MARK, enabled: true }).execute();
}
