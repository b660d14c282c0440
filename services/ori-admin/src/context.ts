import type { Readable, Writable } from 'node:stream';
import type { Listed } from '@ori/administration/lists';
import { printable, printableJson } from '@ori/faces/printable';
import { type Cell, renderTable } from '@ori/faces/table';
import { type Config, ConfigError } from '@ori/runtime/config';
import type { KekOwner, KekRing } from '@ori/sealing/kek-ring';
import { openRingFile, type RingFile } from '@ori/sealing/read-kek-ring';
import type { Database } from '@ori/store/database';
import { openPostgres } from '@ori/store/postgres';
import { type ADMIN_SPEC, loadAdminConfig } from './config.ts';
import { UsageError } from './failure.ts';

interface OutputStream extends Writable {
  readonly isTTY?: boolean;
}

/** The environment of a command. Only main.ts creates it from the real process. */
export interface HostEnvironment {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
}

type AdminConfig = Config<typeof ADMIN_SPEC>;

/** The setting that names the file of a ring. */
export const ringSetting = (owner: KekOwner) => (owner === 'signer' ? 'signerKekFile' : 'managementKekFile');

export function createContext(
  host: HostEnvironment,
  { json = false, actor }: { json?: boolean; actor?: string },
) {
  const { environment, stdout, stderr } = host;
  const note = (line: string): void => void stderr.write(`${printable(line)}\n`);
  const print = (lines: readonly string[]): void => {
    if (lines.length > 0) stdout.write(`${lines.map(printable).join('\n')}\n`);
  };
  const printJson = (value: unknown): void => void stdout.write(`${printableJson(value, 2)}\n`);
  const config = <Key extends keyof AdminConfig>(...needed: readonly Key[]): Pick<AdminConfig, Key> =>
    loadAdminConfig(environment, needed);
  const ringFile = (owner: KekOwner): RingFile => {
    const setting = ringSetting(owner);
    const { [setting]: path } = config(setting);
    return { path, variable: `ORI_ADMIN_${owner.toUpperCase()}_KEK_FILE`, owner, ...kms(owner) };
  };
  const kms = (owner: KekOwner): Pick<RingFile, 'kmsUrl' | 'kmsTokenFile'> => {
    const { signerKmsUrl, managementKmsUrl, kmsTokenFile } = config(
      ...(['signerKmsUrl', 'managementKmsUrl', 'kmsTokenFile'] as const),
    );
    return { kmsUrl: owner === 'signer' ? signerKmsUrl : managementKmsUrl, kmsTokenFile };
  };
  return {
    ...host,
    json,
    config,
    note,
    /** Runs `work` on the database, connected on its first query and closed after it. */
    withDatabase: <Result>(
      work: (db: Database) => Promise<Result>,
      options?: { readonly statementTimeoutMs: number },
    ) => withDatabase(config('databaseUrl').databaseUrl.reveal(), work, { ...options, actor }),
    /** The file of the service's ring. @throws ConfigError */
    ringFile,
    /** The KMS that wraps its keys; without `kmsUrl` there is none. @throws ConfigError */
    kms,
    /** The ring that the service opens and seals with. @throws ConfigError; KmsError */
    readRing: async (owner: KekOwner): Promise<KekRing> => await openRingFile(ringFile(owner)),
    /** Prints a result: with `--json` the value, otherwise its lines, and a note on stderr. */
    report(
      value: object,
      { lines = [], note: line }: { readonly lines?: readonly string[]; readonly note?: string },
    ) {
      if (json) return printJson(value);
      print(lines);
      if (line !== undefined) note(line);
    },
    /** Prints a list: with `--json` as `{ data, has_more, next? }`, otherwise as a table, with a column for each of `cells`. */
    reportList<Row>(
      { rows, hasMore, next }: Listed<Row>,
      cells: (row: Row) => Readonly<Record<string, Cell>>,
    ) {
      if (json) return printJson({ data: rows, has_more: hasMore, next });
      if (rows.length === 0) note('None found.');
      else print(renderTable(rows.map(cells)));
      if (hasMore) {
        const go = next === undefined ? 'narrow the list, or raise --limit' : `the next with --after ${next}`;
        note(`Only ${rows.length} are shown: ${go}.`);
      }
    },
    /** Redraws one line of stderr, if stderr is a terminal. */
    progress: createProgress(stderr),
  };
}

/** What a command works with. Results go to stdout, messages to stderr. */
export type Context = ReturnType<typeof createContext>;

async function withDatabase<Result>(
  url: string,
  work: (db: Database) => Promise<Result>,
  {
    statementTimeoutMs = 30_000,
    actor,
  }: { readonly statementTimeoutMs?: number; readonly actor?: string | undefined },
): Promise<Result> {
  let db: Database;
  try {
    db = openPostgres({
      url,
      poolMax: 2,
      connectTimeoutMs: 5000,
      statementTimeoutMs,
      applicationName: 'ori-admin',
      ...(actor === undefined ? {} : { actor }),
    });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    if (error.message.startsWith('actor: ')) throw new UsageError(`--${error.message}.`);
    throw new ConfigError([`ORI_ADMIN_DATABASE_URL: ${error.message.replace(/^url: /, '')}`]);
  }
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

const ERASE_LINE = '\r\u001b[K';

function createProgress(stderr: OutputStream) {
  let shown = false;
  return {
    show(line: string): void {
      if (!stderr.isTTY) return;
      stderr.write(ERASE_LINE + printable(line));
      shown = true;
    },
    end(): void {
      if (shown) stderr.write(ERASE_LINE);
      shown = false;
    },
  };
}
