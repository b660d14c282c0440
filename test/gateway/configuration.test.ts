import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { DEADLINE_MS, STOP_TIMES } from '@ori/http/open-ports';
import { describe, expect, it } from 'vitest';
import { makeCertificate } from '../env/certificate.ts';
import { NGINX, startDaemonGateway, startGateway } from '../env/gateway.ts';
import { freePort } from '../env/ports.ts';
import { openRoom } from '../env/room.ts';

const SHIPPED = join(import.meta.dirname, '../../deploy/gateway');
const NOBODY = '127.0.0.1:9';

describe.skipIf(NGINX === undefined)('nginx -t', () => {
  it.each(['nginx.conf', 'daemon.conf'])('finds no fault in %s with the site example', async (name) => {
    await using room = await openRoom('ori-gateway-test');
    const conf = join(room.directory, 'conf');
    cpSync(SHIPPED, conf, { recursive: true });
    cpSync(join(SHIPPED, 'site.example'), join(conf, 'site'), { recursive: true });
    for (const folder of ['logs', 'run']) mkdirSync(join(room.directory, folder));
    // The example's port and certificate are not available here.
    const { cert, key } = makeCertificate();
    writeFileSync(join(conf, 'site/cert.pem'), cert + key, { mode: 0o600 });
    const listen = readFileSync(join(conf, 'site/listen.conf'), 'utf8')
      .replaceAll(/listen (\[::\]:)?443/g, `listen 127.0.0.1:${await freePort()}`)
      .replace(/^(listen.*\n)\1/, '$1')
      .replaceAll(/\/etc\/ssl\S+\.pem/g, 'site/cert.pem');
    writeFileSync(join(conf, 'site/listen.conf'), listen);
    const words = ['-t', '-p', `${room.directory}/`, '-c', join(conf, name)];
    const { status, stderr } = spawnSync(NGINX ?? '', words, { encoding: 'utf8' });
    expect(stderr.replaceAll(/.*"user" directive makes sense only.*\n/g, '')).not.toMatch(
      /\[(warn|error|crit|alert|emerg)\]/,
    );
    expect(status, stderr).toBe(0);
  });
});

it.skipIf(NGINX === undefined)(
  'tells Prometheus the connections of callers, in a server of its own',
  async () => {
    const port = await freePort();
    const site = { 'status.conf': `server { listen 127.0.0.1:${port}; include status.conf; }` };
    await using gateway = await startGateway({ signers: [NOBODY], management: [NOBODY], site });
    const page = async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
      return [answer.headers.get('content-type'), await answer.text()];
    };
    const told = ['active 1', 'waiting 0']
      .map((line) => line.split(' '))
      .map(([of, count]) => `# TYPE nginx_connections_${of} gauge\nnginx_connections_${of} ${count}\n`)
      .join('');
    // The connection that found nginx listening may not be closed yet.
    await expect.poll(page).toEqual(['text/plain', told]);
    expect(await gateway.accessLog()).not.toContain('/metrics');
  },
);

describe.skipIf(NGINX === undefined)('TLS', () => {
  const start = {
    'the gateway': () => startGateway({ signers: [NOBODY], management: [NOBODY] }),
    'the gateway of a daemon': () => startDaemonGateway({ daemons: [NOBODY] }),
  };
  it.each(Object.entries(start))('is 1.2 or 1.3 with forward secrecy at %s, with HTTP/2', async (_, open) => {
    await using gateway = await open();
    const shake = (options: ConnectionOptions) =>
      new Promise<{ protocol: string | null; alpn: string | false | null }>((resolve, reject) => {
        const at = {
          port: gateway.securePort,
          host: '127.0.0.1',
          servername: 'localhost',
          ca: gateway.certificate,
        };
        const socket: TLSSocket = connect({ ...at, ALPNProtocols: ['h2', 'http/1.1'], ...options }, () => {
          resolve({ protocol: socket.getProtocol(), alpn: socket.alpnProtocol });
          socket.destroy();
        });
        socket.once('error', reject);
      });
    expect(await shake({})).toEqual({ protocol: 'TLSv1.3', alpn: 'h2' });
    expect(await shake({ maxVersion: 'TLSv1.2' })).toEqual({ protocol: 'TLSv1.2', alpn: 'h2' });
    const old = { minVersion: 'TLSv1' as const, ciphers: 'ALL@SECLEVEL=0' };
    await expect(shake({ ...old, maxVersion: 'TLSv1.1' })).rejects.toThrow('alert protocol version');
    for (const ciphers of ['AES128-GCM-SHA256', 'ECDHE-ECDSA-AES128-SHA', 'ECDHE-ECDSA-AES128-SHA256']) {
      await expect(shake({ maxVersion: 'TLSv1.2', ciphers })).rejects.toThrow(/handshake failure/);
    }
  });
});

const readShipped = (name: string) => readFileSync(join(SHIPPED, name), 'utf8');
const README = readShipped('README.md').replaceAll(/\s+/g, ' ');
const SITES = ['site.example', '../docker/gateway-site', '../kubernetes/base/gateway-site'];

it.each([
  [/may send (\d+) requests per second/, 'rate=$1r/s;', SITES.map((site) => `${site}/limits.conf`)],
  [/per second with a burst of (\d+),/, 'limit_req zone=per_address burst=$1 nodelay;', ['nginx.conf']],
  [/, and (\d+) at once:/, 'limit_conn under_way $1;', ['nginx.conf']],
  [/does not finish its headers within (\d+) s/, 'client_header_timeout $1s;', ['nginx.conf', 'daemon.conf']],
  [/(\d+) s to connect,/, 'proxy_connect_timeout $1s;', ['nginx.conf', 'daemon.conf']],
  [/to connect, (\d+) s to answer/, 'proxy_read_timeout $1s;', ['nginx.conf']],
  [/waits (\d+) s between two pieces/, 'proxy_read_timeout $1s;', ['daemon.conf']],
])('has the figure of its README: %s', (sentence, directive, files) => {
  const [, figure] = sentence.exec(README) ?? [];
  expect(figure).toBeDefined();
  for (const file of files) expect(readShipped(file)).toContain(directive.replace('$1', figure ?? ''));
});

describe('the timeouts of the gateway', () => {
  const text = readShipped('nginx.conf');
  const seconds = (directive: string) =>
    [...text.matchAll(new RegExp(`^\\s+${directive} (\\d+)s;`, 'gm'))].map(([, value]) => Number(value));

  it('close an idle connection before a service that stops does', () => {
    const idle = STOP_TIMES.shutdownIdleMs / 1000;
    const [client, ...upstreams] = [...seconds('keepalive_timeout')].sort((a, b) => b - a);
    expect(client).toBe(60);
    expect(upstreams).toHaveLength(3);
    for (const upstream of upstreams) expect(upstream).toBeLessThan(idle);
  });

  it('leave a service its deadline', () => {
    const deadline = DEADLINE_MS / 1000;
    for (const directive of ['proxy_read_timeout', 'client_body_timeout']) {
      expect(seconds(directive), directive).toEqual([
        expect.toSatisfy((value: number) => value > deadline + 1),
      ]);
    }
  });
});
