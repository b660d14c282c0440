import { pathToFileURL } from 'node:url';
import pg from 'pg';
import {
  copyFolder,
  type PostgresOptions,
  type PostgresServer,
  startPostgres,
} from '../../env/postgres-server.ts';
import type { Place } from '../../lab/exactly-once/repertoire.ts';
import type { Fault, World } from '../../lab/exactly-once/stage.ts';
import { VERIFIER_FAULTS } from '../../lab/exactly-once/stores/any-store.ts';
import { postgresServerFaults } from './postgres-server-faults.ts';

export const POSTGRES_TIMEOUT_MS = 500;

/** A server with the settings that the store requires. */
export async function startLedger(options: PostgresOptions = {}): Promise<PostgresServer> {
  const settings = ['fsync=on', 'full_page_writes=on', ...(options.settings ?? [])];
  return startPostgres({ ...options, settings });
}

/** The SQL that installs what this library's store needs. */
export async function schemaOf(library: string): Promise<string> {
  return (await import(pathToFileURL(`${library}/replay/postgres/schema.ts`).href)).POSTGRES_REPLAY_SQL;
}

/** Queries on its own connection; waits until a server answers. */
export async function ask(url: string, text: string): Promise<Record<string, unknown>[]> {
  for (let attempt = 1; ; attempt += 1) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
    client.on('error', () => {});
    try {
      await client.connect();
      return (await client.query(text)).rows ?? [];
    } catch (error) {
      if (attempt === 20) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    } finally {
      await client.end().catch(() => {});
    }
  }
}

/** One server without standbys. */
export async function postgresSingle({ library }: Place): Promise<World> {
  const stack = new AsyncDisposableStack();
  const server = stack.use(await startLedger());
  const schema = await schemaOf(library);
  await ask(server.url, schema);
  const answers = async (): Promise<void> => void (await ask(server.url, 'SELECT 1'));

  const own: Record<string, Fault> = {
    async killed({ pause, random }) {
      await server.kill();
      await pause(random.between(0, 1000));
      await server.start();
      await answers();
    },

    async restarted() {
      await server.restart();
      await answers();
    },

    /** Restores the data of a moment ago, which lacks the proofs spent since. */
    async 'old copy restored'({ pause, random, worst }) {
      const copy = `${server.data}-copy`;
      await server.stop();
      await copyFolder(server.data, copy);
      await server.start();
      await pause(random.between(4500, 5500));
      worst();
      await pause(200);
      await server.kill();
      await copyFolder(copy, server.data);
      await server.start();
      await answers();
    },
  };
  return {
    store: { kind: 'postgres', url: server.url, replicas: 0, timeoutMs: POSTGRES_TIMEOUT_MS },
    faults: { ...VERIFIER_FAULTS, ...postgresServerFaults(() => server, schema, answers), ...own },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
