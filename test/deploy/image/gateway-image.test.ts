import { execFileSync } from 'node:child_process';
import { chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { NGINX } from '../../env/gateway.ts';
import { freePort } from '../../env/ports.ts';
import { imageBuilder } from './build-image.ts';
import { runContained, whyNotContained } from './run-image.ts';

const folder = await mkdtemp(join(tmpdir(), 'ori-image-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const why = whyNotContained();
if (why) console.log(`Not run: the gateway in its image, because ${why}.`);

test.skipIf(why || NGINX === undefined)(
  'nginx answers with the envelope, unprivileged, from its shipped configuration',
  async () => {
    const image = await imageBuilder(folder)('gateway');
    const { root, entrypoint, user } = image;
    const [uid = 0, gid = 0] = user.split(':').map(Number);
    const port = await freePort();
    await chown(join(root, 'srv/gateway/run'), uid, gid);
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
    await writeFile(join(site, 'listen.conf'), `listen 127.0.0.1:${port};\n`);
    await writeFile(
      join(site, 'limits.conf'),
      'limit_req_zone $binary_remote_addr zone=per_address:1m rate=9r/s;\n',
    );
    await writeFile(join(site, 'regional-hosts.conf'), '');
    for (const pool of ['signers', 'management'])
      await writeFile(join(site, `${pool}.conf`), 'server 127.0.0.1:1;\n');

    const judged = runContained(image, [...entrypoint, '-t'], {});
    expect(await judged.exited, judged.output()).toBe(0);
    const nginx = runContained(image, entrypoint, {});
    try {
      const answer = await answered(`http://127.0.0.1:${port}/elsewhere`, nginx.exited);
      expect(answer.status, nginx.output()).toBe(404);
      expect(await answer.json()).toHaveProperty('error.code');
    } finally {
      nginx.child.kill('SIGQUIT');
    }
    expect(await nginx.exited).toBe(0);
    expect(await readFile(join(root, 'dev/stdout'), 'utf8')).toContain('"status":404');
  },
);

/** The first answer of a server that is starting. */
async function answered(url: string, exited: Promise<number | null>): Promise<Response> {
  let gone = false;
  void exited.then(() => {
    gone = true;
  });
  for (;;) {
    try {
      return await fetch(url, { headers: { connection: 'close' } });
    } catch (error) {
      if (gone) throw error;
      await setTimeout(20);
    }
  }
}
