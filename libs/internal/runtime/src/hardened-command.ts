import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { ConfigError, type Environment } from './config.ts';
import { problemsOfEnvironment } from './hardened-environment.ts';
import { placeOf } from './program-place.ts';
import { systemErrorCode } from './system-error-code.ts';

/** How to start a service in production. */
export interface HardenedProgram {
  /** The prefix of its environment variables, in upper case. */
  readonly prefix: string;
  /** The folder of the entry, from which the main program is located. */
  readonly folder: string;
  /** The main program in a checkout, relative to the service; `src/main.ts` by default. */
  readonly source?: string;
  /** The `<PREFIX>_…_FILE` names whose files are written; all others are read. */
  readonly writes?: readonly string[];
  /** Names of folders that are read and written, with everything below them. */
  readonly keeps?: readonly string[];
  /** Names of lists of files that are read, each with the other files in its folder. */
  readonly follows?: readonly string[];
  /** The size of each half of V8's young generation, in MiB; 16 by default. */
  readonly youngSpaceMib?: number;
  /** Whether memory matters more than time: V8 then collects garbage early, with 2 MiB instead of 16. */
  readonly compact?: boolean;
  /** Whether it uses worker threads. */
  readonly workers?: boolean;
}

/** Flags that do not depend on the machine. */
export const FIXED_FLAGS = [
  '--permission',
  '--disable-proto=delete',
  '--disallow-code-generation-from-strings',
  '--disable-sigusr1',
  // It opens files regardless of the permission model.
  '--no-experimental-sqlite',
] as const;

/**
 * The size of each half of V8's young generation, in MiB, unless the program or `NODE_OPTIONS` sets it. Objects of a
 * request are garbage within milliseconds, and V8's default keeps more of it resident.
 */
const YOUNG_SPACE = { option: '--max-semi-space-size', mib: 16 };

/**
 * V8 collects garbage early. Compilers then run on the main thread: a background one can
 * deadlock with an exiting main thread (nodejs/node#54918), and a smaller heap makes that more likely.
 */
const COMPACT_FLAGS = ['--optimize-for-size', '--no-concurrent-sparkplug', '--no-concurrent-recompilation'];

/**
 * A thread inherits the permissions unless the code that starts it changes them. Node therefore warns at every start.
 */
const WORKER_FLAGS = ['--allow-worker', '--disable-warning=PERM0006'];

/** The files that the process reads about itself: its open files, and its core dump limit. */
const OWN_FACTS = ['/proc/self/fd', '/proc/self/limits'];

/**
 * The command line of a service under Node's permission model: it can read its code and the files that its environment
 * names, write the files in `writes`, and start no process, thread (unless `workers`), addon, WASI module, inspector or
 * code from strings. Node has no flag for the network, which the deployment must restrict.
 *
 * @throws ConfigError for a setting that would widen that: a folder or a pattern instead of a file, a `NODE_…` name
 */
export function hardenedCommand(program: HardenedProgram, env: Environment, words: readonly string[]) {
  const { prefix, folder, writes = [], keeps = [], follows = [], workers = false } = program;
  const { main, code } = placeOf(folder, program.source);
  const problems = problemsOfEnvironment(env);
  const read: string[] = code.map((place) => join(place, '*'));
  const written = new Map<string, string>();
  const named = Object.entries(env).flatMap(([name, value]): [string, string][] =>
    value && name.startsWith(`${prefix}_`) && name.endsWith('_FILE') ? [[name, resolve(value)]] : [],
  );
  for (const [name, path] of [...named, ...certificatesOf(prefix, env)]) {
    const problem = problemOfFile(name, path);
    if (problem) problems.push(problem);
    else if (writes.includes(name)) written.set(name, path);
    else read.push(path);
  }
  const kept = keeps.flatMap((name): [string, string][] => (env[name] ? [[name, resolve(env[name])]] : []));
  for (const [name, path] of kept) {
    const problem = problemOfFolder(name, path, read);
    if (problem) problems.push(problem);
  }
  const folders = kept.map(([, path]) => path);
  const followed = follows.flatMap((name): [string, string][] =>
    (env[name] ?? '')
      .split(',')
      .flatMap((file) => (file.trim() ? [[name, dirname(resolve(file.trim()))]] : [])),
  );
  const listed = [...kept, ...followed];
  read.push(...listed.flatMap(([, path]) => withContent(path)));
  problems.push(
    ...problemsOfWritten(written, read),
    ...problemsOfBeginnings(listed, [...read, ...written.values()]),
  );
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    /** Node's flags, the main program, and the given arguments. */
    args: [
      ...FIXED_FLAGS,
      ...(program.compact ? COMPACT_FLAGS : []),
      ...youngSpaceFlag(env, program.youngSpaceMib ?? (program.compact ? 2 : YOUNG_SPACE.mib)),
      ...(workers ? WORKER_FLAGS : []),
      ...foldersFirst([...read, ...OWN_FACTS]).map((path) => `--allow-fs-read=${path}`),
      ...foldersFirst([...written.values(), ...folders.flatMap(withContent)]).map(
        (path) => `--allow-fs-write=${path}`,
      ),
      main,
      ...words,
    ],
    env: Object.fromEntries(
      Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
  };
}

function youngSpaceFlag(env: Environment, mib: number): string[] {
  const { option } = YOUNG_SPACE;
  return env['NODE_OPTIONS']?.includes(`${option}=`) ? [] : [`${option}=${mib}`];
}

/** Files that the service reads determine what it does, so it must not write them: neither its code nor its keys. */
function problemsOfWritten(written: ReadonlyMap<string, string>, read: readonly string[]): string[] {
  return [...written].flatMap(([name, path]) => {
    const real = realPathOf(path);
    const kept = read.find(
      (other) =>
        real === realPathOf(other) || (other.endsWith('/*') && real.startsWith(`${realPathOf(other)}/`)),
    );
    return kept === undefined
      ? []
      : [`${name}: ${JSON.stringify(path)} is read by the service; name a separate file`];
  });
}

/** Node 24 denies listing a folder that is granted after something inside it. */
const foldersFirst = (paths: readonly string[]) => paths.toSorted((a, b) => a.length - b.length);

/** Node 24 denies listing `/lib/log` if `/lib/log-guard` is granted as well. */
function problemsOfBeginnings(
  listed: readonly [name: string, path: string][],
  granted: readonly string[],
): string[] {
  return listed.flatMap(([name, path]) => {
    const other = granted.find((one) => one.startsWith(path) && one !== path && one[path.length] !== '/');
    return other === undefined
      ? []
      : [
          `${name}: ${JSON.stringify(path)} is a prefix of ${JSON.stringify(other)}, so Node would deny listing it; rename one of them`,
        ];
  });
}

const withContent = (folder: string): string[] => [folder, join(folder, '*')];

/** A folder to write must not contain files that determine what the service does. */
function problemOfFolder(name: string, path: string, read: readonly string[]): string | undefined {
  if (path.includes('*')) return `${name}: expected a path without a star, got ${JSON.stringify(path)}`;
  const real = realPathOf(path);
  const inside = read.some((other) => {
    const realOther = realPathOf(other);
    return `${realOther}/`.startsWith(`${real}/`) || `${real}/`.startsWith(`${realOther}/`);
  });
  return inside
    ? `${name}: ${JSON.stringify(path)} is read by the service; name a separate folder`
    : undefined;
}

/** Resolves symbolic links, as far as the path exists, of a path or of all that is in a folder. */
function realPathOf(granted: string): string {
  const path = granted.replace(/\/\*$/, '');
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(realPathOf(folder), basename(path));
  }
}

/** Node treats a star as a pattern, and a folder as everything below it. */
function problemOfFile(name: string, path: string): string | undefined {
  if (path.includes('*')) return `${name}: expected a path without a star, got ${JSON.stringify(path)}`;
  try {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return undefined;
    return `${name}: expected a file, and ${JSON.stringify(path)} is a folder`;
  } catch (error) {
    return `${name}: cannot reach ${JSON.stringify(path)} (${systemErrorCode(error)})`;
  }
}

/** The certificate files that a PostgreSQL address names. An invalid address is refused elsewhere. */
function certificatesOf(prefix: string, env: Environment): [name: string, path: string][] {
  const name = `${prefix}_DATABASE_URL`;
  const given = env[name] || textOf(env[`${name}_FILE`]);
  if (given === undefined || !URL.canParse(given)) return [];
  const { searchParams } = new URL(given);
  return ['sslrootcert', 'sslcert', 'sslkey'].flatMap((key): [string, string][] => {
    const path = searchParams.get(key);
    return path === null || path === '' ? [] : [[`${name} (${key})`, resolve(path)]];
  });
}

function textOf(path: string | undefined): string | undefined {
  try {
    return path ? readFileSync(path, 'utf8').trim() : undefined;
  } catch {
    return undefined;
  }
}
