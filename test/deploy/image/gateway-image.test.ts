import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeCertificate } from '../../env/certificate.ts';
import { NGINX } from '../../env/gateway.ts';
import { createHttpClient, type Refused } from '../../env/http-client.ts';
import { freePort } from '../../env/ports.ts';
import { ROOT } from '../root.ts';
import { imageBuilder } from './build-image.ts';
import { runContained, whyNotContained } from './run-image.ts';
import { falseStatements } from './vex.ts';

const folder = await mkdtemp(join(tmpdir(), 'ori-image-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const why = whyNotContained();
if (why) console.log(`Not run: the gateway in its image, because ${why}.`);

test.skipIf(why || NGINX === undefined)(
  'nginx answers with the envelope, unprivileged, from its shipped configuration, and uses a renewed certificate',
  async () => {
    const image = await imageBuilder(folder)('gateway');
    const { root, entrypoint, user } = image;
    const [uid = 0, gid = 0] = user.split(':').map(Number);
    const port = await freePort();
    await mkdir(join(root, 'dev'));
    for (const [name, minor] of [
      ['null', '3'],
      ['urandom', '9'],
    ] as const) {
      execFileSync('mknod', ['-m', '666', join(root, 'dev', name), 'c', '1', minor]);
    }
    // A container engine makes them accessible to the container's user.
    for (const name of ['stdout', 'stderr']) {
      await writeFile(join(root, 'dev', name), '');
      await chown(join(root, 'dev', name), uid, gid);
    }
    const site = join(root, 'etc/ori/gateway/site');
    // The site of Kubernetes, and a secret as the kubelet mounts it.
    const shipped = (name: string) =>
      readFile(join(ROOT, 'deploy/kubernetes/base/gateway-site', name), 'utf8');
    const listen = (await shipped('listen.conf')).replace(/^listen \[::\].*\n/m, '');
    await writeFile(join(site, 'listen.conf'), listen.replace('8443', `127.0.0.1:${port}`));
    await writeFile(join(site, 'limits.conf'), await shipped('limits.conf'));
    const renew = async () => {
      const { cert, key } = makeCertificate();
      await mkdir(join(root, 'run/secrets/tls'), { recursive: true });
      for (const [name, text] of Object.entries({ 'tls.crt': cert, 'tls.key': key })) {
        const file = join(root, 'run/secrets/tls', name);
        await writeFile(file, text);
        await chmod(file, 0o440);
        await chown(file, 0, gid);
      }
      return cert;
    };
    await writeFile(join(site, 'regional-hosts.conf'), '');
    for (const pool of ['signers', 'management'])
      await writeFile(join(site, `${pool}.conf`), 'server 127.0.0.1:1;\n');

    expect(await readFile(join(root, 'sbom.cdx.json'), 'utf8')).toContain('pkg:deb/debian/nginx');
    expect(await falseStatements('gateway', image)).toEqual([]);
    const certificate = await renew();
    const judged = runContained(image, [...entrypoint, '-t'], {});
    expect(await judged.exited, judged.output()).toBe(0);
    const nginx = runContained(image, entrypoint, {});
    try {
      using client = createHttpClient(`https://localhost:${port}`, { certificate });
      const ask = () =>
        client.ask({ path: '/elsewhere' }).then((answer) => answer.json<Refused>().error.code);
      await expect.poll(() => ask().catch(nginx.output)).toBe(404);
      using later = createHttpClient(`https://localhost:${port}`, { certificate: await renew() });
      expect((await later.ask({ path: '/elsewhere' })).status, 'with a renewed certificate').toBe(404);
    } finally {
      nginx.child.kill('SIGQUIT');
    }
    expect(await nginx.exited).toBe(0);
    expect(await readFile(join(root, 'dev/stdout'), 'utf8')).toContain('"status":404');
  },
);
