import { readFileSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startApiServer } from '@ori/http/server';
import { expect, test } from 'vitest';
import { makeCertificate, type Tls } from '../env/certificate.ts';
import { NGINX, startGateway } from '../env/gateway.ts';
import { createHttpClient } from '../env/http-client.ts';
import { openRoom } from '../env/room.ts';

const README = readFileSync(join(import.meta.dirname, '../../deploy/gateway/README.md'), 'utf8');

/** The block of the README that names the file, without its indentation and with this test's files. */
function documented(name: string, folder: string): string {
  const [, block = ''] = new RegExp(`# site/${name}\\n((?: {4}.*\\n)+)`).exec(README) ?? [];
  return block.replaceAll('/etc/ori-gateway/', `${folder}/`).replaceAll('services.internal', 'localhost');
}

/** A service over TLS that answers with the target of a request, if the caller presents this certificate. */
async function serveOverTls(folder: string, name: string, own: Tls, caller: Tls) {
  const file = (ending: string) => join(folder, `${name}.${ending}`);
  await writeFile(file('key'), own.key, { mode: 0o600 });
  await writeFile(file('crt'), own.cert);
  await writeFile(file('callers.crt'), caller.cert);
  const { port, stop } = await startApiServer({
    app: (req, res) => void res.end(req.url),
    host: '127.0.0.1',
    port: 0,
    deadlineMs: 5000,
    tls: { tlsCertFile: file('crt'), tlsKeyFile: file('key'), tlsClientCaFile: file('callers.crt') },
  });
  return { port, address: `127.0.0.1:${port}`, [Symbol.asyncDispose]: () => stop({ graceMs: 0 }) };
}

test.skipIf(NGINX === undefined)(
  'the gateway reaches services over TLS as in the README: with its certificate, and only those that it trusts',
  async () => {
    await using room = await openRoom('ori-services-tls');
    const file = (name: string) => join(room.directory, name);
    const [service, client, stranger] = [makeCertificate(), makeCertificate(), makeCertificate()];
    await writeFile(file('services-ca.pem'), service.cert);
    await writeFile(file('client.crt'), client.cert);
    await writeFile(file('client.key'), client.key);
    await using known = await serveOverTls(room.directory, 'service', service, client);
    await using unknown = await serveOverTls(room.directory, 'stranger', stranger, client);
    await using gateway = await startGateway({
      signers: [known.address],
      management: [unknown.address],
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
    const use = async (client: Tls) => {
      await writeFile(file('tls.crt'), client.cert);
      await writeFile(file('tls.key'), client.key);
    };
    await writeFile(file('ca.crt'), service.cert);
    await use(former);
    await using server = await serveOverTls(room.directory, 'service', service, renewed);
    const component = (name: string) =>
      readFileSync(join(import.meta.dirname, '../../deploy/kubernetes/components/services-tls', name), 'utf8')
        .replaceAll('/run/secrets/client-tls', room.directory)
        .replace('services.internal', 'localhost');
    const members = [server.address];
    const site = Object.fromEntries(
      ['over-tls.conf', 'services-tls.conf'].map((name) => [name, component(name)]),
    );
    await using gateway = await startGateway({ signers: members, management: members, site });
    const ask = async () => (await fetch(`${gateway.url}/v1/openapi.json`)).status;
    expect(await ask()).not.toBe(200);
    await use(renewed);
    expect(await ask()).toBe(200);
  },
);
