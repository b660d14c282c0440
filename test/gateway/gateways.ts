import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SHIPPED = join(import.meta.dirname, '../../deploy/gateway/others');
const read = (file: string) => readFileSync(join(SHIPPED, file), 'utf8');

/** A server that others put in front of a daemon (deploy/gateway/others.md), and how it is started. */
export interface Gateway {
  readonly name: string;
  /** @param run a folder of its own */
  readonly args: (port: number, daemonPort: number, run: string) => readonly string[];
  /** Its own check of a configuration. */
  readonly check?: (args: readonly string[]) => readonly string[];
  /** Which paths arrive byte for byte. */
  readonly keeps: RegExp;
  /** Whether it looks after a client of a stream only when it has something for it. */
  readonly looksLate?: boolean;
  /** Which do not arrive, though a proof can cover them. */
  readonly refuses?: readonly string[];
}

export const GATEWAYS: readonly Gateway[] = [
  {
    name: 'haproxy',
    args: () => ['-f', join(SHIPPED, 'haproxy.cfg')],
    check: (args) => ['-c', ...args],
    keeps: /^/,
  },
  {
    name: 'caddy',
    args: () => ['run', '--adapter', 'caddyfile', '--config', join(SHIPPED, 'Caddyfile')],
    check: ([, ...args]) => ['validate', ...args],
    // Go percent-encodes what RFC 3986 does not allow in a path.
    keeps: /^[\w\-./~%:@!$&'()*+,;=]*$/,
  },
  {
    name: 'apache2',
    args: () => ['-D', 'FOREGROUND', '-f', join(SHIPPED, 'httpd.conf')],
    check: (args) => ['-t', ...args],
    keeps: /^\/(?!\/)/,
    looksLate: true,
    refuses: ['/api/%00', '/api/%zz', '/../api/invoke', '/api/%2e%2e/%2e%2e/invoke'],
  },
  {
    name: 'envoy',
    args: (port, daemonPort) => [
      ...['--use-dynamic-base-id', '--config-yaml'],
      withPorts('envoy.yaml', port, daemonPort),
    ],
    check: (args) => ['--mode', 'validate', ...args],
    keeps: /^/,
  },
  {
    name: 'traefik',
    args: (port) =>
      [...read('traefik.yaml').matchAll(/--\S+/g)].map(([option]) =>
        option
          .replace('traefik.yaml', join(SHIPPED, 'traefik.yaml'))
          .replace('$ORI_LISTEN', `127.0.0.1:${port}`),
      ),
    keeps: /^[\w\-./~:@!$&'()*+,;=]*$/,
  },
  {
    name: 'lighttpd',
    args: () => ['-D', '-f', join(SHIPPED, 'lighttpd.conf')],
    check: ([, ...args]) => ['-tt', ...args],
    keeps: /^/,
    looksLate: true,
  },
  {
    name: 'squid',
    args: (...at) => ['-N', '-f', written('squid.conf', ...at)],
    keeps: /^/,
  },
  {
    name: 'varnishd',
    args: (port, daemonPort, run) => [
      // Without its jail, whose user could not enter the folder.
      ...['-j', 'none', '-F', '-a', `127.0.0.1:${port}`, '-n', join(run, 'varnish')],
      ...['-f', written('varnish.vcl', port, daemonPort, run)],
    ],
    keeps: /^/,
  },
  {
    name: 'h2o',
    args: (...at) => ['-c', written('h2o.yaml', ...at)],
    check: (args) => ['-t', ...args],
    keeps: /^/,
    looksLate: true,
  },
];

/** For programs that read no environment. */
const withPorts = (file: string, port: number, daemonPort: number): string =>
  read(file).replaceAll('8443', String(port)).replaceAll('8000', String(daemonPort));

function written(file: string, port: number, daemonPort: number, run: string): string {
  writeFileSync(join(run, file), withPorts(file, port, daemonPort));
  return join(run, file);
}

/** Of a gateway that listens at a port in front of a daemon. @param run a folder of its own */
export const environmentOf = (name: string, port: number, daemonPort: number, run: string) => ({
  PATH: process.env['PATH'],
  HOME: run,
  ORI_HOST: '127.0.0.1',
  ORI_PORT: String(port),
  ORI_DAEMON_HOST: '127.0.0.1',
  ORI_DAEMON_PORT: String(daemonPort),
  ORI_LISTEN: name === 'caddy' ? `http://:${port}` : `127.0.0.1:${port}`,
  ORI_DAEMON: `127.0.0.1:${daemonPort}`,
  ORI_RUN: run,
});
