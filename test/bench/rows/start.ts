import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../env/ports.ts';
import { startPostgres } from '../../env/postgres.ts';
import { shipped } from '../../env/programs.ts';
import { startRedis } from '../../env/redis.ts';
import { openRoom, type Room } from '../../env/room.ts';
import { BODY_SHA256, startWorld, type World } from '../../env/world.ts';
import { alternate, type Finding, type Row } from '../row.ts';
import { runProgram, untilReady, untilSaid } from '../start-program.ts';

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
    const program = await shipped('signer/ori-signer');
    const signer = await anotherSigner(folder, world);
    const place: Place = { room, env: { HOME: folder, XDG_CACHE_HOME: folder, XDG_CONFIG_HOME: folder } };
    const sign = ['sign', world.demo.internId, '--path', '/api/invoke', '--body-sha256', BODY_SHA256];
    const standalone = (cache: string) =>
      untilSaid({ room, env: { ...place.env, ORI_PORT: '0', XDG_CACHE_HOME: cache } }, /^ready: /m, [
        'services/standalone/src/main.ts',
      ]);
    bench.progress('filling the caches');
    if (!bench.isQuick) await standalone(folder);
    await runProgram(place, ['services/ori/bin/ori.js', ...sign], /x-ori-invoke-signature-v2: /);
    const seconds = await alternate(bench.isQuick ? { ...bench, rounds: 1 } : bench, {
      node: () => runProgram(place, [empty], /^$/),
      signer: () => untilReady(place, [program], signer),
      standalone: () => standalone(folder),
      'first standalone': async () => standalone(await mkdtemp(join(folder, 'cache-'))),
      help: () => runProgram(place, ['services/ori/bin/ori.js', '--help'], /Usage: ori/),
      sign: () => runProgram(place, ['services/ori/bin/ori.js', ...sign], /x-ori-invoke-signature-v2: /),
    });
    const finding = (title: string, name: keyof typeof seconds, secondsMore: number): Finding => ({
      ...{ title, unit: 's', by: 'difference', mark: { atMost: secondsMore } },
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

/** A program's folder, and its whole environment. */
export interface Place {
  readonly room: Room;
  readonly env: Readonly<Record<string, string>>;
}

/** The environment of a second signer in this world. */
async function anotherSigner(folder: string, { environment }: World): Promise<Record<string, string>> {
  return {
    ...environment,
    SIGNER_PORT: String(await freePort()),
    SIGNER_OPS_PORT: String(await freePort()),
    SIGNER_AUDIT_FILE: join(folder, 'audit.jsonl'),
  };
}

/** Stores a session as `ori login` does. */
async function signIn(folder: string, { baseUrl, issuer, token }: World): Promise<void> {
  const session = {
    ...{ version: 1, base_url: baseUrl, resource: baseUrl, issuer: issuer.url, client_id: 'ori-cli' },
    ...{ subject: 'ada', name: null, scope: 'vault:read', access_token: await token() },
    ...{ expires_at: null, refresh_token: null, signed_in_at: Math.floor(Date.now() / 1000) },
  };
  await mkdir(join(folder, 'ori'), { recursive: true, mode: 0o700 });
  await writeFile(join(folder, 'ori/session.json'), JSON.stringify(session), { mode: 0o600 });
}
