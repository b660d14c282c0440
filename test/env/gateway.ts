import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, openSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { makeCertificate } from './certificate.ts';
import { freePort } from './ports.ts';
import { findProgram, openRoom } from './room.ts';
import { childrenOf } from './server-process.ts';

const SHIPPED = join(import.meta.dirname, '../../deploy/gateway');

/** Undefined if nginx is not installed. Gateway tests are then skipped with a message. */
export const NGINX = findProgram('nginx', ['/usr/sbin', '/usr/local/sbin']);
if (NGINX === undefined) {
  console.warn('No nginx on this machine: all gateway tests are skipped. `npm run setup` installs it.');
}

/** A real nginx in its own folder, on free loopback ports. */
export interface Gateway extends AsyncDisposable {
  /** The plain HTTP address. */
  readonly url: string;
  readonly port: number;
  /** The TLS address for the host name `localhost`, with HTTP/1.1 and HTTP/2. */
  readonly secureUrl: string;
  readonly securePort: number;
  /** PEM: the certificate that a client must trust. */
  readonly certificate: string;
  /** The master and its workers. */
  pids(): readonly number[];
  /** Contains `conf`, with the shipped files and `site`, `logs` and `run`. */
  readonly folder: string;
  accessLog(): Promise<string>;
  errorLog(): Promise<string>;
  /** Reloads the configuration; resolves when only new workers accept connections. */
  reload(): Promise<void>;
}

export interface GatewayOptions {
  /** Addresses such as `127.0.0.1:8081`. */
  readonly signers: readonly string[];
  readonly management: readonly string[];
  readonly log?: string;
  /** Per client address. Default: practically unlimited. */
  readonly requestsPerSecond?: number;
  /** Whether `X-Forwarded-For` from loopback is trusted, as from a load balancer. */
  readonly behindBalancer?: boolean;
  readonly regionalHosts?: readonly string[];
  /** Further site files, by name. */
  readonly site?: Readonly<Record<string, string>>;
}

/** The shipped gateway of the services. */
export function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { signers, management, requestsPerSecond = 1_000_000, regionalHosts = [] } = options;
  const balancer = 'set_real_ip_from 127.0.0.1;\nreal_ip_header X-Forwarded-For;\n';
  return startNginx('nginx.conf', {
    'signers.conf': members(signers),
    'management.conf': members(management),
    ...(options.log && { 'log.conf': `server ${options.log};\n` }),
    'limits.conf': `limit_req_zone $client_network zone=per_address:10m rate=${requestsPerSecond}r/s;\n${options.behindBalancer ? balancer : ''}`,
    'regional-hosts.conf': regionalHosts.map((host) => `${host} 1;\n`).join(''),
    ...options.site,
  });
}

/** The shipped gateway of a daemon, or an nginx with this in its `server`. */
export function startDaemonGateway(options: {
  readonly daemons: readonly string[];
  readonly server?: string | undefined;
}): Promise<Gateway> {
  const { daemons, server } = options;
  const site = { 'daemons.conf': members(daemons) };
  return server === undefined
    ? startNginx('daemon.conf', site)
    : startNginx('other.conf', site, otherServer(server));
}

const otherServer = (server: string) => `
  daemon off;
  pid run/nginx.pid;
  error_log logs/error.log;
  events {}
  http {
    access_log logs/access.log;
    client_body_temp_path run/client-body;
    proxy_temp_path run/proxy;
    fastcgi_temp_path run/fastcgi;
    uwsgi_temp_path run/uwsgi;
    scgi_temp_path run/scgi;
    upstream daemons { include site/daemons.conf; }
    server { include site/listen.conf; ${server} }
  }`;

/** Lists each address once with failure detection and once as a backup, as in the site example. */
function members(addresses: readonly string[]): string {
  return [
    ...addresses.map((address) => `server ${address} max_fails=1 fail_timeout=1s;\n`),
    ...addresses.map((address) => `server ${address} backup max_fails=0;\n`),
  ].join('');
}

async function startNginx(
  name: string,
  site: Readonly<Record<string, string>>,
  text?: string,
): Promise<Gateway> {
  if (NGINX === undefined) throw new Error('no nginx on this machine: `npm run setup` installs it');
  await using stack = new AsyncDisposableStack();
  const room = stack.use(await openRoom('ori-gateway'));
  const [port, securePort] = await Promise.all([freePort(), freePort()]);
  const { cert, key } = makeCertificate();
  const folder = room.directory;
  const conf = join(folder, 'conf');
  for (const each of ['conf', 'conf/site', 'logs', 'run']) mkdirSync(join(folder, each));
  for (const file of readdirSync(SHIPPED).filter((each) => each.endsWith('.conf'))) {
    symlinkSync(join(SHIPPED, file), join(conf, file));
  }
  const entry = join(conf, name);
  if (text !== undefined) writeFileSync(entry, text);
  const listen = `
    listen 127.0.0.1:${port};
    listen 127.0.0.1:${securePort} ssl http2;
    server_name localhost;
    ssl_certificate site/cert.pem;
    ssl_certificate_key site/key.pem;
  `;
  const files = {
    ...site,
    'listen.conf': listen,
    'cert.pem': cert,
    'key.pem': key,
  };
  for (const [file, content] of Object.entries(files)) {
    writeFileSync(join(conf, 'site', file), content, { mode: 0o600 });
  }
  const output = openSync(join(folder, 'logs/output.log'), 'a');
  const child = spawn(NGINX, ['-p', `${folder}/`, '-c', entry], {
    cwd: folder,
    stdio: ['ignore', output, output],
    detached: true,
  });
  room.admit(child, 'TERM');
  const errorLog = () => readFile(join(folder, 'logs/error.log'), 'utf8').catch(() => '');
  await listening(child, port, () => readFile(join(folder, 'logs/output.log'), 'utf8'));
  child.unref();
  const { pid } = child;
  if (pid === undefined) throw new Error('nginx did not start');
  const owned = stack.move();
  return {
    port,
    securePort,
    folder,
    errorLog,
    certificate: cert,
    pids: () => [pid, ...childrenOf(pid)],
    url: `http://127.0.0.1:${port}`,
    secureUrl: `https://localhost:${securePort}`,
    accessLog: () => readFile(join(folder, 'logs/access.log'), 'utf8'),
    async reload() {
      const reloads = async () =>
        (await errorLog()).match(/\[notice\].*: start worker processes/g)?.length ?? 0;
      const before = await reloads();
      child.kill('SIGHUP');
      while ((await reloads()) === before) await pause(20);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Resolves when nginx accepts connections; rejects with its log if it exits first. */
async function listening(child: ChildProcess, port: number, lastWords: () => Promise<string>): Promise<void> {
  let ended = false;
  child.once('exit', () => {
    ended = true;
  });
  for (;;) {
    if (ended) throw new Error(`nginx exited before it was ready:\n${await lastWords()}`);
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await pause(20);
  }
}
