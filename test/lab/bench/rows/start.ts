import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../../env/ports.ts';
import { startPostgres } from '../../../env/postgres.ts';
import { shipped } from '../../../env/programs.ts';
import { startRedis } from '../../../env/redis.ts';
import { openRoom } from '../../../env/room.ts';
import { ServerProcess } from '../../../env/server-process.ts';
import { BODY_SHA256, startWorld, type World } from '../../../env/world.ts';
import { alternate, type Finding, type Row } from '../row.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const ORI = join(ROOT, 'services/ori/bin/ori.js');
const STANDALONE = join(ROOT, 'services/standalone/src/main.ts');
const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: { start: string };
};
/** Of `npm start`: to optimize the embedded PostgreSQL takes longer than the demonstration runs it. */
const FLAGS = scripts.start.match(/--[\w=-]+/g) ?? [];

/**
 * The time after Node's own start until a service is ready, or a command exits. The signer is the shipped, hardened build;
 * the standalone and the command run from source. These two use the cache of an earlier start,
 * except for the first start of the standalone.
 */
export const startRow: Row = {
  name: 'start',
  async run(bench) {
    bench.progress('starting what a signer needs');
    await using redis = await startRedis();
    await using postgres = await startPostgres();
    await using world = await startWorld({ process: true, redis, postgres });
    await using room = await openRoom('ori-bench-start');
    const folder = room.directory;
    const empty = join(folder, 'empty.mjs');
    await writeFile(empty, '');
    await signIn(folder, world);
    const home = { HOME: folder, XDG_CACHE_HOME: folder, XDG_CONFIG_HOME: folder };
    const untilExit = async (args: readonly string[], says: RegExp) => {
      const startedAt = performance.now();
      const env = { PATH: process.env['PATH'] ?? '', ...home };
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env });
      const seconds = (performance.now() - startedAt) / 1000;
      if (!says.test(stdout)) throw new Error(`${args.join(' ')} printed\n${stdout}`);
      return seconds;
    };
    const untilReady = async (
      program: string,
      ready: RegExp,
      environment: Record<string, string>,
      flags: readonly string[] = [],
    ) => {
      const options = {
        room,
        program: process.execPath,
        arguments: [...flags, program],
        farewell: 'KILL',
      } as const;
      const server = new ServerProcess({ ...options, ready, environment });
      const startedAt = performance.now();
      await server.start();
      const opsPort = environment['SIGNER_OPS_PORT'];
      while (opsPort !== undefined && !(await fetch(`http://127.0.0.1:${opsPort}/readyz`)).ok);
      const seconds = (performance.now() - startedAt) / 1000;
      await server.end('SIGTERM');
      return seconds;
    };
    const program = await shipped('signer/ori-signer');
    const another = {
      ...world.environment,
      SIGNER_PORT: String(await freePort()),
      SIGNER_OPS_PORT: String(await freePort()),
      SIGNER_AUDIT_FILE: join(folder, 'audit.jsonl'),
    };
    const standalone = (cache: string) =>
      untilReady(STANDALONE, /^ready: /, { ...home, ORI_PORT: '0', XDG_CACHE_HOME: cache }, FLAGS);
    const words = ['sign', world.demo.internId, '--path', '/api/invoke', '--body-sha256', BODY_SHA256];
    const sign = () => untilExit([ORI, ...words], /x-ori-invoke-signature-v2: /);
    bench.progress('filling the caches');
    if (!bench.isQuick) await standalone(folder);
    await sign();
    const seconds = await alternate(bench.isQuick ? { ...bench, rounds: 1 } : bench, {
      node: () => untilExit([empty], /^$/),
      signer: () => untilReady(program, /"msg":"listening"/, another),
      standalone: () => standalone(folder),
      'first standalone': async () => standalone(await mkdtemp(join(folder, 'cache-'))),
      help: () => untilExit([ORI, '--help'], /Usage: ori/),
      sign,
    });
    const finding = (title: string, name: keyof typeof seconds, secondsMore: number): Finding => ({
      title,
      unit: 's',
      by: 'difference',
      mark: { atMost: secondsMore },
      ours: { name, rounds: seconds[name] },
      theirs: { name: 'node', rounds: seconds.node },
    });
    return [
      finding('signer ready', 'signer', 0.5),
      finding('standalone ready', 'standalone', 3.5),
      finding('standalone ready, first time', 'first standalone', 3.5),
      finding('ori --help', 'help', 0.15),
      finding('ori sign', 'sign', 0.25),
    ];
  },
};

/** Stores a session as `ori login` does. */
async function signIn(folder: string, { baseUrl, issuer, token }: World): Promise<void> {
  const session = {
    version: 1,
    base_url: baseUrl,
    resource: baseUrl,
    issuer: issuer.url,
    client_id: 'ori-cli',
    subject: 'ada',
    name: null,
    scope: 'vault:read',
    access_token: await token(),
    expires_at: null,
    refresh_token: null,
    signed_in_at: Math.floor(Date.now() / 1000),
    renewed_at: Math.floor(Date.now() / 1000),
  };
  await mkdir(join(folder, 'ori'), { recursive: true, mode: 0o700 });
  await writeFile(join(folder, 'ori/session.json'), JSON.stringify(session), { mode: 0o600 });
}
