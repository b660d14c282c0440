import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from './ports.ts';
import { shippedServer } from './programs.ts';
import { openRoom } from './room.ts';
import type { World } from './world.ts';

/** More would fill the memory of a siege. */
const OUTPUT_LINES_MAX = 200_000;

/** One of our services as a deployment starts it: a process of its entry point, with only its environment and files. */
export interface Service extends AsyncDisposable {
  /** `<host>:<port>` of the API, and of the ops port. */
  readonly address: string;
  readonly opsAddress: string;
  readonly pid: number | undefined;
  /** The lines of its output: the last ones of a service that wrote very many. */
  readonly output: readonly string[];
  readonly folder: string;
  /** Starts it and resolves once `/readyz` is 200. */
  start(): Promise<void>;
  /** Sends SIGTERM and resolves when the process has exited. */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly name: 'signer' | 'management';
  readonly address: string;
  /** Names without the prefix, except `OTEL_…`. The value of a `_FILE` name is the contents of a file to create with mode 0600. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The heap size that V8 chooses under the shipped memory limit of 512 MiB. On this machine it would choose far more. */
const HEAP_AS_SHIPPED = '--max-old-space-size=256';

/** Does not start the service: a gateway may start before its services. */
export async function createService({ name, address, environment }: ServiceOptions): Promise<Service> {
  const prefix = name.toUpperCase();
  const room = await openRoom(`ori-shipped-${name}`);
  const [host = '', port = ''] = address.split(':');
  const opsPort = await freePort();
  const own: Record<string, string> = {
    NODE_OPTIONS: HEAP_AS_SHIPPED,
    [`${prefix}_HOST`]: host,
    [`${prefix}_PORT`]: port,
    [`${prefix}_OPS_HOST`]: host,
    [`${prefix}_OPS_PORT`]: String(opsPort),
  };
  for (const [word, value] of Object.entries(environment)) {
    own[word.startsWith('OTEL_') ? word : `${prefix}_${word}`] = word.endsWith('_FILE')
      ? await writeSecret(room.directory, word, value)
      : value;
  }
  if (name === 'signer') own['SIGNER_AUDIT_FILE'] = join(room.directory, 'audit.jsonl');
  const output: string[] = [];
  const program = name === 'signer' ? 'signer/ori-signer' : 'management/ori-management';
  const server = await shippedServer(room, program, own, (line) => {
    output.push(line);
    if (output.length > OUTPUT_LINES_MAX) output.splice(0, OUTPUT_LINES_MAX / 2);
  });
  const opsAddress = `${host}:${opsPort}`;
  return {
    address,
    opsAddress,
    output,
    folder: room.directory,
    get pid() {
      return server.pid;
    },
    async start() {
      await server.start();
      // The keep-alive connection of fetch may be one to the previous process.
      const ready = () =>
        fetch(`http://${opsAddress}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        );
      while (!(await ready())) await pause(20);
    },
    stop: () => server.end('SIGTERM'),
    [Symbol.asyncDispose]: () => room[Symbol.asyncDispose](),
  };
}

/** Limits the size of the files that its process writes. For the process, a file that cannot grow is a full disk. */
export function setFileSizeMax({ pid }: Service, bytes: number | 'unlimited'): void {
  execFileSync('prlimit', [`--pid=${pid}`, `--fsize=${bytes}:`]);
}

async function writeSecret(folder: string, word: string, text: string): Promise<string> {
  const path = join(folder, word.toLowerCase().replaceAll('_', '-'));
  await writeFile(path, text, { mode: 0o600 });
  return path;
}

/** A started management service on the world's database. @param environment names without the prefix */
export async function startManagement(
  world: World,
  environment: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const address = `127.0.0.1:${await freePort()}`;
  const own = {
    DATABASE_URL: world.managementDatabaseUrl,
    ISSUER: world.issuer.url,
    AUDIENCE: `http://${address}/v1`,
    KEK_FILE: world.managementKekText,
    ...environment,
  };
  const service = await createService({ name: 'management', address, environment: own });
  await service.start();
  return service;
}
