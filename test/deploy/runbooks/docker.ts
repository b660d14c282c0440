// Instead of `docker`: runs what compose.yaml names as processes, on a PostgreSQL and a Redis that run already.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import process from 'node:process';
import { type ComposeFile, readCompose } from '../compose/compose-file.ts';
import { HOST, pidOf, runOnce, type Start, startService, stopService } from './supervise.ts';

const {
  RUNBOOK_POSTGRES = '',
  RUNBOOK_REDIS = '',
  RUNBOOK_PROGRAMS = '',
  RUNBOOK_PORTS = '{}',
} = process.env;
const FOLDER = join(HOST, 'checkout/deploy/docker');
const SERVICES = ['signer-1', 'signer-2', 'management'];
/** The ops port of each service; its API is on the next one. */
const PORTS = JSON.parse(RUNBOOK_PORTS) as Record<string, number>;
const program = (name: string) => [process.execPath, join(RUNBOOK_PROGRAMS, name)];

const words = process.argv.slice(2);
if (words[0] === 'run')
  runOnce({ words: [...program('admin/ori-admin.js'), ...after('ori/admin:1.0.0')], env: {} });
else if (words[0] === 'compose')
  await compose(words.find((word) => /^(up|run|kill|ps|exec)$/.test(word)) ?? '');
else if (words[0] !== 'build') throw new Error(`docker ${words.join(' ')}: not played`);

function after(word: string): string[] {
  return words.slice(words.indexOf(word) + 1);
}

async function compose(verb: string): Promise<void> {
  const file = readCompose(variables());
  if (verb === 'run') {
    const options = words.slice(0, words.indexOf('admin'));
    const needed = [join(FOLDER, 'compose.yaml'), '--no-TTY', `${process.cwd()}:${process.cwd()}`];
    const missing = needed.filter((word) => !options.includes(word));
    if (missing.length > 0) throw new Error(`docker compose run without ${missing}`);
    const start = adminOf(file, after('admin'));
    return runOnce({ words: start.words, env: { ...start.env, ...passedOn(options) } });
  }
  if (verb === 'exec')
    return runOnce({ words: after('postgres'), env: process.env as Record<string, string> });
  if (verb === 'kill') return void process.kill(pidOf(words.at(-1) ?? ''), `SIG${after('--signal')[0]}`);
  if (verb === 'ps') return console.log(SERVICES.map((name) => `${name} ${pidOf(name)}`).join('\n'));
  await prepareServers(file);
  runOnce(startOf(file, 'migrate', [...program('admin/ori-admin.js'), 'migrate']));
  const recreate = async (name: string) => {
    await stopService(name);
    const kind = name.replace(/-\d$/, '');
    await startService(name, startOf(file, name, program(`${kind}/ori-${kind}.js`)));
  };
  await Promise.all(SERVICES.map(recreate));
}

/** What `--env NAME` before the service passes on. */
function passedOn(options: readonly string[]): Record<string, string> {
  const names = options.filter((_, index) => options[index - 1] === '--env');
  return Object.fromEntries(names.map((name) => [name, process.env[name] ?? '']));
}

function variables(): Record<string, string> {
  const text = readFileSync(join(FOLDER, '.env'), 'utf8');
  return Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, key, value]) => [key, value]));
}

/** The names of the Compose network are those of this machine. */
function adminOf(file: ComposeFile, args: readonly string[]): Start {
  // Of this machine, a container has the caller's folder alone.
  const elsewhere = args.find(
    (arg) => isAbsolute(arg) && !arg.startsWith(`${process.cwd()}/`) && arg !== '/dev/stdin',
  );
  if (elsewhere !== undefined) throw new Error(`no ${elsewhere} in the container`);
  const found = args.map((arg) =>
    arg.replaceAll(
      /http:\/\/(signer-\d|management):\d+/g,
      (_, name: string) => `http://127.0.0.1:${PORTS[name]}`,
    ),
  );
  return startOf(file, 'admin', [...program('admin/ori-admin.js'), ...found]);
}

function startOf(file: ComposeFile, name: string, words: readonly string[]): Start {
  const prefix = name.startsWith('signer') ? 'SIGNER' : 'MANAGEMENT';
  const placed = Object.entries(file.services[name]?.environment ?? {}).map(([key, value]) => [
    key,
    value
      .replace(/\/run\/secrets\/([\w-]+)/, (_, id: string) =>
        join(FOLDER, file.secrets[id]?.file ?? `secrets/${id}`),
      )
      .replace('/var/lib/ori/audit', join(FOLDER, 'state/audit', name)),
  ]);
  const port = PORTS[name] ?? 0;
  const ports = {
    [`${prefix}_PORT`]: String(port + 1),
    [`${prefix}_OPS_PORT`]: String(port),
    [`${prefix}_SHUTDOWN_IDLE_MS`]: '0',
  };
  return { words, env: { ...Object.fromEntries(placed), ...(port > 0 && ports) } };
}

/** What the containers of PostgreSQL and Redis do at their first start. */
async function prepareServers(file: ComposeFile): Promise<void> {
  if (existsSync(join(HOST, 'run/servers'))) return;
  writeFileSync(join(HOST, 'run/servers'), '');
  const [{ default: pg }, { Redis }] = await Promise.all([import('pg'), import('ioredis')]);
  const superuser = new pg.Client({ connectionString: RUNBOOK_POSTGRES });
  await superuser.connect();
  for (const statement of readFileSync(join(FOLDER, 'secrets/roles.sql'), 'utf8').split(';\n'))
    await superuser.query(statement);
  await superuser.end();
  const redis = new Redis(RUNBOOK_REDIS);
  for (const line of readFileSync(join(FOLDER, 'secrets/redis.acl'), 'utf8').trim().split('\n'))
    if (!line.startsWith('user default')) await redis.call('ACL', 'SETUSER', ...line.split(' ').slice(1));
  const settings = file.services['redis']?.command?.slice(1) ?? [];
  for (const [at, name] of settings.entries())
    if (/^--(?!aclfile|dir$)/.test(name)) await redis.config('SET', name.slice(2), settings[at + 1] ?? '');
  await redis.quit();
  const hosts = { postgres: new URL(RUNBOOK_POSTGRES).host, redis: new URL(RUNBOOK_REDIS).host };
  for (const name of ['owner', 'operator', 'signer-database', 'management-database', 'signer-redis']) {
    const path = join(FOLDER, 'secrets', `${name}-url`);
    const text = readFileSync(path, 'utf8').replace(
      /@(postgres|redis):\d+/,
      (_, host: 'redis') => `@${hosts[host]}`,
    );
    writeFileSync(path, text);
  }
}
