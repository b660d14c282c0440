import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const SHIPPED = join(import.meta.dirname, '../../deploy/gateway/others');
const read = (file: string) => readFileSync(join(SHIPPED, file), 'utf8');

/** A server that others put in front of a daemon (deploy/gateway/others.md), and how it is started. */
export interface Gateway {
  readonly name: string;
  readonly args: (port: number, daemonPort: number) => readonly string[];
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
      read('envoy.yaml').replaceAll('8443', String(port)).replaceAll('8000', String(daemonPort)),
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
];
