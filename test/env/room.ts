import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { chmod, chown, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The user that a server runs as: PostgreSQL refuses to run as root. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** The signal that asks a process to exit; after five seconds it is killed. */
export type Farewell = 'KILL' | 'QUIT' | 'TERM';

/**
 * A temporary folder and the server processes that use it. Both are removed on disposal, and
 * also if this process dies in any way: a shell in a separate session waits for the end
 * of its standard input, kills the processes and their children, stopped or not, and removes the folder.
 */
export interface Room extends AsyncDisposable {
  readonly directory: string;
  /** Stops the process with the room. A process that has exited is removed automatically. */
  admit(child: ChildProcess, farewell: Farewell): void;
}

const WATCH = `
pids=
while read -r word signal pid; do
  case $word in
    admit) pids="$pids $signal:$pid" ;;
    leave) rest=; for entry in $pids; do [ "$entry" = "$signal:$pid" ] || rest="$rest $entry"; done; pids=$rest ;;
  esac
done
alive() { kill -0 "$1" 2>/dev/null && ! grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null; }
children() { cat "/proc/$1/task/$1/children" 2>/dev/null; }
for entry in $pids; do
  pid=\${entry#*:}
  kill -CONT "$pid" $(children "$pid") 2>/dev/null
  kill -"\${entry%%:*}" "$pid" 2>/dev/null
done
for entry in $pids; do
  pid=\${entry#*:} tries=0
  while alive "$pid" && [ $tries -lt 100 ]; do tries=$((tries + 1)); sleep 0.05; done
  kill -KILL "$pid" $(children "$pid") 2>/dev/null
done
rm -rf -- "$1"
`;

/** Opens a room named `<prefix>-XXXXXX`, in `parent` if given; the folder belongs to `account` if given. */
export async function openRoom(prefix: string, account?: Account, parent?: string): Promise<Room> {
  const directory = await mkdtemp(join(parent ?? (account ? worldReadableFolder() : tmpdir()), `${prefix}-`));
  if (account) {
    await chown(directory, account.uid, account.gid);
    await chmod(directory, 0o755);
  }
  const watcher = spawn('/bin/sh', ['-c', WATCH, 'room', directory], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
  });
  watcher.stdin.on('error', () => {});
  watcher.unref();
  const gone = once(watcher, 'exit');
  return {
    directory,
    admit(child, farewell) {
      if (child.pid === undefined) return;
      watcher.stdin.write(`admit ${farewell} ${child.pid}\n`);
      child.once('exit', () => {
        if (watcher.stdin.writable) watcher.stdin.write(`leave ${farewell} ${child.pid}\n`);
      });
    },
    async [Symbol.asyncDispose]() {
      watcher.ref();
      watcher.stdin.end();
      await gone;
    },
  };
}

/** Undefined if this process can start PostgreSQL itself, else an unprivileged user to start it as. */
export function unprivilegedAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
  const account =
    accounts.find(({ name }) => name === 'postgres') ?? accounts.find(({ name }) => name === 'nobody');
  return account ?? { name: 'uid 65534', uid: 65534, gid: 65534 };
}

/** The first folder for temporary files that every user can enter: TMPDIR may be below a private home. */
function worldReadableFolder(): string {
  const folder = [tmpdir(), '/tmp', '/var/tmp'].find((path) => everyoneMayEnter(path));
  if (folder === undefined) throw new Error('no folder for temporary files that every user may enter');
  return folder;
}

/** Whether every user can traverse the folders of `path`. */
export function everyoneMayEnter(path: string): boolean {
  try {
    if ((statSync(path).mode & 0o001) === 0) return false;
  } catch {
    return false;
  }
  return path === '/' || everyoneMayEnter(dirname(path));
}

/** The path of a program on the PATH (or in one of the further folders), or undefined. */
export function findProgram(name: string, furtherFolders: readonly string[] = []): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(':').filter(Boolean), ...furtherFolders];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
