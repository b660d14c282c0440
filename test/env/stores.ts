import type { Database } from '@ori/store/database';
import { migrate } from '@ori/store/migrate';
import { openPglite } from '@ori/store/pglite';
import { openPostgres } from '@ori/store/postgres';
import type { StoreRole } from '@ori/store/privileges/grant';
import { afterAll, beforeAll } from 'vitest';
import { createDatabase } from './postgres.ts';

export type Dialect = 'postgres' | 'pglite';
/** PGlite, which starts slowly and which only the demo uses, has a project of its own. */
export const DIALECTS: readonly Dialect[] = [process.env['STORE'] === 'pglite' ? 'pglite' : 'postgres'];

/** A migrated database for one test: its owner, and the connections of the services. */
export interface TestStore extends AsyncDisposable {
  readonly owner: Database;
  as(role: StoreRole): Database;
  /** The address of a database on a server, with the login of its owner. */
  readonly url?: string;
}

export async function openTestStore(dialect: Dialect): Promise<TestStore> {
  return dialect === 'pglite' ? await openEmbedded() : await openOnServer();
}

/** The same for the tests of a `describe`, or of a file. */
export function useTestStore(dialect: Dialect): Pick<TestStore, 'owner' | 'as'> {
  let store: TestStore | undefined;
  beforeAll(async () => {
    store = await openTestStore(dialect);
  });
  afterAll(() => store?.[Symbol.asyncDispose]());
  const opened = () => {
    if (store === undefined) throw new Error('the store is opened before the tests of its describe');
    return store;
  };
  return {
    get owner() {
      return opened().owner;
    },
    as: (role) => opened().as(role),
  };
}

async function openEmbedded(): Promise<TestStore> {
  const owner = await openPglite();
  await migrate(owner);
  return { owner, as: (role) => owner.as(role), [Symbol.asyncDispose]: () => owner.close() };
}

/** The signer's login is only a member of its role, as in production. */
async function openOnServer(): Promise<TestStore> {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await createDatabase());
  const own = (db: Database): Database => {
    stack.defer(() => db.close());
    return db;
  };
  // Tests prepare many rows at once.
  const owner = own(openPostgres({ url: database.url, poolMax: 8, statementTimeoutMs: 30_000 }));
  const views = {
    ori_signer: own(openPostgres({ url: database.signerUrl, poolMax: 4 })),
    ori_management: own(openPostgres({ url: database.url, role: 'ori_management', poolMax: 4 })),
    ori_operator: own(openPostgres({ url: database.url, role: 'ori_operator', poolMax: 4 })),
    ori_auditor: own(openPostgres({ url: database.url, role: 'ori_auditor', poolMax: 1 })),
  } satisfies Record<StoreRole, Database>;
  const kept = stack.move();
  return {
    owner,
    url: database.url,
    as: (role) => views[role],
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
