import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { makeCertificate } from '../env/certificate.ts';
import { INTERN_ID, listen, useCliWorld } from './cli-world.ts';

const folder = await mkdtemp(join(tmpdir(), 'ori-tls-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const certificate = join(folder, 'cert.pem');
const tls = makeCertificate();
await writeFile(certificate, tls.cert);
const world = await useCliWorld({ tls });

it('uses the proxy of the environment, as a tunnel', async () => {
  const tunnels: (string | undefined)[] = [];
  await using proxy = await listen((_req, res) => res.writeHead(502).end());
  proxy.server.on('connect', (req, client) => {
    tunnels.push(req.url);
    const { hostname, port } = new URL(`https://${req.url}`);
    const server = connect(Number(port), hostname, () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    server.pipe(client).pipe(server);
    server.on('error', () => {}).on('close', () => client.destroy());
    client.on('error', () => {}).on('close', () => server.destroy());
  });
  await using home = await world.newSignedIn({
    NODE_EXTRA_CA_CERTS: certificate,
    HTTPS_PROXY: proxy.url,
  });
  const called = await home.ori(['call', INTERN_ID, '/api/invoke', '--data', '{}']);
  expect(called).toEqual({ exit: 0, stdout: '{"user":"acct_ada"}', stderr: '' });
  const [api, daemon] = [new URL(world.baseUrl).host, new URL(world.daemonUrl).host];
  expect(tunnels).toEqual([api, api, daemon]);
});

it('names the proxy that it cannot reach', async () => {
  const gone = await listen(() => {});
  await gone.stop();
  await using home = await world.newHome({ NODE_EXTRA_CA_CERTS: certificate, HTTPS_PROXY: gone.url });
  const { exit, stderr } = await home.ori(['login', '--no-browser']);
  expect(exit).toBe(6);
  expect(stderr).toContain(`HTTPS_PROXY, ${new URL(gone.url).host}`);
  const around = { env: { NO_PROXY: 'localhost', ORI_TOKEN: 'token' } };
  expect((await home.ori(['interns', 'list'], around)).stderr).not.toContain('PROXY');
});

it('does without a proxy that it cannot use, but for https requests', async () => {
  await using home = await world.newHome({ HTTPS_PROXY: 'socks5://127.0.0.1:1080', ORI_TOKEN: 'token' });
  expect(await home.ori(['--version'])).toMatchObject({ exit: 0, stderr: '' });
  const { exit, stderr } = await home.ori(['interns', 'list']);
  expect([exit, stderr]).toEqual([2, expect.stringContaining('HTTPS_PROXY: expected an address')]);
  expect((await home.ori(['login', '--no-browser'], { env: { ORI_TOKEN: '' } })).exit).toBe(2);
});

it('sends nothing to a server whose certificate it cannot trust', async () => {
  await using home = await world.newSignedIn({ NODE_EXTRA_CA_CERTS: certificate });
  world.requests.length = 0;
  const untrusting = { env: { NODE_EXTRA_CA_CERTS: '' } };
  const refused = await home.ori(['call', INTERN_ID, '/api/invoke', '--data', '{}'], untrusting);
  expect(refused).toMatchObject({ exit: 6, stdout: '' });
  expect(refused.stderr).toContain('certificate is self-signed');
  const elsewhere = world.daemonUrl.replace('localhost', '127.0.0.1');
  const misnamed = await home.ori(['call', INTERN_ID, '/api/invoke', '--data', '{}', '--daemon', elsewhere]);
  expect(misnamed).toMatchObject({ exit: 6, stdout: '' });
  expect(misnamed.stderr).toContain('certificate is for another host');
  expect(world.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
});
