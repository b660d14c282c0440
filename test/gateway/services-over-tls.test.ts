import { readFileSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startApiServer } from '@ori/http/server';
import { expect, test } from 'vitest';
import { makeCertificate } from '../env/certificate.ts';
import { NGINX, startGateway } from '../env/gateway.ts';
import { createHttpClient } from '../env/http-client.ts';
import { openRoom } from '../env/room.ts';

const README = readFileSync(join(import.meta.dirname, '../../deploy/gateway/README.md'), 'utf8');

/** The block of the README that names the file, without its indentation and with this test's files. */
function documented(name: string, folder: string): string {
  const [, block = ''] = new RegExp(`# site/${name}\\n((?: {4}.*\\n)+)`).exec(README) ?? [];
  return block.replaceAll('/etc/ori-gateway/', `${folder}/`).replaceAll('services.internal', 'localhost');
}

test.skipIf(NGINX === undefined)(
  'the gateway reaches services over TLS as in the README: with its certificate, and only those that it trusts',
  async () => {
    await using room = await openRoom('ori-services-tls');
    const file = (name: string) => join(room.directory, name);
    const [service, client, stranger] = [makeCertificate(), makeCertificate(), makeCertificate()];
    await writeFile(file('service.key'), service.key, { mode: 0o600 });
    await writeFile(file('stranger.key'), stranger.key, { mode: 0o600 });
    await writeFile(file('service.crt'), service.cert);
    await writeFile(file('stranger.crt'), stranger.cert);
    await writeFile(file('services-ca.pem'), service.cert);
    await writeFile(file('client.crt'), client.cert);
    await writeFile(file('client.key'), client.key);
    const serve = (name: string) =>
      startApiServer({
        app: (req, res) => void res.end(req.url),
        host: '127.0.0.1',
        port: 0,
        deadlineMs: 5000,
        tls: {
          tlsCertFile: file(`${name}.crt`),
          tlsKeyFile: file(`${name}.key`),
          tlsClientCaFile: file('client.crt'),
        },
      });
    const [known, unknown] = [await serve('service'), await serve('stranger')];
    const address = ({ port }: { port: number }) => `127.0.0.1:${port}`;
    try {
      await using gateway = await startGateway({
        signers: [address(known)],
        management: [address(unknown)],
        site: {
          'over-tls.conf': documented('over-tls.conf', room.directory),
          'services-tls.conf': documented('services-tls.conf', room.directory),
        },
      });
      const ask = (path: string) => fetch(gateway.url + path);
      const target = '/v1/interns/a%2Fb/daemon/x?y=%20z';
      const answer = await ask(target);
      expect([answer.status, await answer.text()]).toEqual([200, target]);
      expect((await ask('/v1/openapi.json')).status).toBe(502);
      using withoutCertificate = createHttpClient(`https://localhost:${known.port}`, {
        certificate: service.cert,
      });
      await expect(withoutCertificate.ask({ path: '/v1' })).rejects.toMatchObject({
        code: expect.stringContaining('CERTIFICATE_REQUIRED'),
      });
    } finally {
      await Promise.all([known, unknown].map((server) => server.stop({ graceMs: 0 })));
    }
  },
);

test.skipIf(NGINX === undefined)(
  'in Kubernetes, the gateway uses a renewed certificate towards the services without a reload',
  async () => {
    await using room = await openRoom('ori-renewed-tls');
    // nginx's workers read it, as an ordinary user.
    await chmod(room.directory, 0o755);
    const file = (name: string) => join(room.directory, name);
    const [service, former, renewed] = [makeCertificate(), makeCertificate(), makeCertificate()];
    const use = async (client: typeof former) => {
      await writeFile(file('tls.crt'), client.cert);
      await writeFile(file('tls.key'), client.key);
    };
    await writeFile(file('service.key'), service.key, { mode: 0o600 });
    await writeFile(file('ca.crt'), service.cert);
    await writeFile(file('renewed.crt'), renewed.cert);
    await use(former);
    const tls = {
      tlsCertFile: file('ca.crt'),
      tlsKeyFile: file('service.key'),
      tlsClientCaFile: file('renewed.crt'),
    };
    const server = await startApiServer({
      app: (req, res) => void res.end(req.url),
      host: '127.0.0.1',
      port: 0,
      deadlineMs: 5000,
      tls,
    });
    const component = (name: string) =>
      readFileSync(join(import.meta.dirname, '../../deploy/kubernetes/components/services-tls', name), 'utf8')
        .replaceAll('/run/secrets/client-tls', room.directory)
        .replace('services.internal', 'localhost');
    try {
      const members = [`127.0.0.1:${server.port}`];
      const site = Object.fromEntries(
        ['over-tls.conf', 'services-tls.conf'].map((name) => [name, component(name)]),
      );
      await using gateway = await startGateway({ signers: members, management: members, site });
      const ask = async () => (await fetch(`${gateway.url}/v1/openapi.json`)).status;
      expect(await ask()).not.toBe(200);
      await use(renewed);
      expect(await ask()).toBe(200);
    } finally {
      await server.stop({ graceMs: 0 });
    }
  },
);
