import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKekRing } from '@ori/sealing/change-kek-ring';
import type { KekOwner } from '@ori/sealing/kek-ring';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../env/ports.ts';
import { shippedFolder } from '../../env/programs.ts';
import { filesOf, type Image, imageBuilder } from './build-image.ts';
import { runContained, whyNotBuilt, whyNotContained } from './run-image.ts';
import { falseStatements, readVex } from './vex.ts';

const folder = await mkdtemp(join(tmpdir(), 'ori-image-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const images: Record<string, Image> = {};

beforeAll(async () => {
  if (whyNone) return;
  const build = imageBuilder(folder);
  const named = async (name: string) => {
    images[name] = await build(name);
  };
  await Promise.all(SHIPPED.map(named));
}, 300_000);

const SHIPPED = ['signer', 'management', 'log', 'guard', 'admin'];
const image = (name: string) => images[name] as Image;
const whyNone = whyNotBuilt();
if (whyNone) console.log(`Not run: the tests of the images, because ${whyNone}.`);
const why = whyNotContained();
if (why) console.log(`Not run: the tests that start a program in an image, because ${why}.`);

describe.skipIf(whyNone)('the contents of an image', () => {
  test.each(SHIPPED)('%s: no shell, no package manager, no tests', async (name) => {
    const files = await filesOf(image(name));
    const programs = files.filter((file) => /^\/(usr\/)?(local\/)?s?bin\//.test(file));
    expect(programs.toSorted()).toEqual(['/usr/bin/prlimit', '/usr/local/bin/node']);
    const unwanted = /\.test\.|\/node_modules\/(npm|typescript|vitest|rolldown)\//;
    expect(files.filter((file) => unwanted.test(file))).toEqual([]);
  });

  test.each(SHIPPED)(
    '%s: byte for byte what the other tests ran, built in another folder, zone and home',
    async (name) => {
      const files = (await filesOf(image(name))).filter((file) => file.startsWith('/app/'));
      const health = name === 'admin' ? [] : ['/app/health.mts'];
      expect(files.filter((file) => !file.startsWith(`/app/${name}/`))).toEqual(health);
      const own = files.filter((file) => file.startsWith(`/app/${name}/`));
      expect(own.length).toBeGreaterThan(3);
      for (const file of own) {
        const [held, ran] = await Promise.all(
          [join(image(name).root, file), join(await shippedFolder(), file.slice('/app'.length))].map((path) =>
            readFile(path, 'utf8'),
          ),
        );
        expect(held === ran, file).toBe(true);
      }
    },
  );

  test('its bill of materials names Node with its OpenSSL, and the package of each library', async () => {
    const read = async (name: string) => {
      const bom = JSON.parse(await readFile(join(image(name).root, 'sbom.cdx.json'), 'utf8'));
      return bom as { serialNumber: string; components: { name: string; version: string; purl: string }[] };
    };
    const { components, serialNumber } = await read('signer');
    expect(serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(components.filter(({ version }) => version === '')).toEqual([]);
    for (const name of ['node', 'openssl', 'v8', 'zlib'])
      expect(components).toContainEqual(expect.objectContaining({ name, version: process.versions[name] }));
    const libraries = (await filesOf(image('signer'))).filter((file) => /\/lib.*\.so/.test(file));
    expect(libraries.length).toBeGreaterThan(3);
    const debian = components.filter(({ purl }) => purl.startsWith('pkg:deb/')).map(({ name }) => name);
    expect(debian).toEqual(expect.arrayContaining(['libc6', 'libstdc++6', 'util-linux']));
  });

  test.each(SHIPPED)('%s: what the VEX document states of it is true', async (name) => {
    expect(await falseStatements(name, image(name))).toEqual([]);
  });

  test('the VEX document speaks of images that are shipped, and of their components', async () => {
    const { statements } = await readVex();
    const products = statements.flatMap(({ products }) => products.map((product) => product['@id']));
    expect([...new Set(products)].toSorted()).toEqual(
      [...SHIPPED, 'gateway'].map((name) => `pkg:oci/${name}`).toSorted(),
    );
  });

  test('every user can read every file, independent of the umask of the checkout', async () => {
    for (const file of await filesOf(image('signer'))) {
      const { mode } = await stat(join(image('signer').root, file)).catch(() => ({ mode: 0o444 }));
      expect(mode & 0o444, file).toBe(0o444);
      expect(mode & 0o022, file).toBe(0);
    }
  });
});

describe.skipIf(why)('in the image', () => {
  test('the signer checks its configuration', async () => {
    const judged = runContained(image('signer'), [...image('signer').entrypoint, 'check-config'], {});
    expect(await judged.exited).toBe(2);
    expect(judged.output()).toContain('SIGNER_KEK_FILE: required');
  });

  test('ori-admin generates a KEK ring', async () => {
    const words = [...image('admin').entrypoint, 'kek', 'generate', 'signer'];
    const made = runContained(image('admin'), words, {});
    expect(await made.exited).toBe(0);
    expect(JSON.parse(made.output()).keys).toHaveLength(1);
  });

  test.each([
    ['signer', 9081],
    ['management', 9082],
  ])(
    '%s starts hardened, passes its own health check, writes only its own files, and stops gracefully',
    async (name) => {
      const { root, entrypoint, health, user } = image(name);
      const prefix = name.toUpperCase();
      const [uid = 0, gid = 0] = user.split(':').map(Number);
      await mkdir(join(root, 'run/secrets'), { recursive: true });
      await mkdir(join(root, 'var/lib/ori/audit'), { recursive: true });
      await chown(join(root, 'var/lib/ori/audit'), uid, gid);
      await writeSecret(join(root, 'run/secrets/kek.json'), generateKekRing(name as KekOwner), gid);
      await writeSecret(join(root, 'run/secrets/database-url'), 'postgres://nobody@127.0.0.1:1/ori', gid);
      await writeSecret(join(root, 'run/secrets/redis-url'), 'redis://127.0.0.1:1', gid);
      const env = {
        [`${prefix}_PORT`]: '0',
        [`${prefix}_OPS_PORT`]: String(await freePort()),
        [`${prefix}_ISSUER`]: 'https://login.example.com',
        [`${prefix}_AUDIENCE`]: 'https://api.example.com/v1',
        [`${prefix}_REQUIRE_HARDENED`]: 'true',
        [`${prefix}_KEK_FILE`]: '/run/secrets/kek.json',
        [`${prefix}_DATABASE_URL_FILE`]: '/run/secrets/database-url',
        ...(name === 'signer' && {
          SIGNER_REDIS_URL_FILE: '/run/secrets/redis-url',
          SIGNER_AUDIT_FILE: '/var/lib/ori/audit/audit.jsonl',
        }),
      };
      const before = await filesOf(image(name));
      const service = runContained(image(name), entrypoint, env);
      try {
        await expect.poll(service.output).toContain('"listening"');
        expect(await runContained(image(name), health, env).exited).toBe(0);
        const elsewhere = { ...env, [`${prefix}_OPS_PORT`]: '1' };
        expect(await runContained(image(name), health, elsewhere).exited).toBe(1);
      } finally {
        service.child.kill('SIGTERM');
      }
      expect(await service.exited, service.output()).toBe(0);
      const written = (await filesOf(image(name))).filter((file) => !before.includes(file));
      expect(written).toEqual(name === 'signer' ? ['/var/lib/ori/audit/audit.jsonl'] : []);
    },
  );
});

async function writeSecret(file: string, text: string, gid: number): Promise<void> {
  await writeFile(file, text, { mode: 0o440 });
  await chmod(file, 0o440);
  await chown(file, 0, gid);
}
