import { execFile } from 'node:child_process';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

interface Manifest {
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
}

test('the bill of materials names every runtime dependency at its version, and no test tool', async () => {
  const print = () =>
    promisify(execFile)('npm', ['run', '--silent', 'sbom'], { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 });
  const [{ stdout }, again] = await Promise.all([print(), print()]);
  expect(again.stdout === stdout, 'it is the same each time').toBe(true);
  const bom = JSON.parse(stdout) as {
    bomFormat: string;
    serialNumber: string;
    metadata: { component: { name: string }; timestamp?: string };
    components: { purl: string; cpe?: string }[];
  };
  expect(bom.bomFormat).toBe('CycloneDX');
  expect(bom.metadata.component.name).toBe('ori-daemon-proof');
  const named = new Set(bom.components.map(({ purl }) => decodeURIComponent(purl)));
  let demanded = 0;
  for await (const path of glob('{libs/*,services}/*/package.json', { cwd: ROOT })) {
    const manifest = JSON.parse(await readFile(join(ROOT, path), 'utf8')) as Manifest;
    for (const [name, version] of Object.entries({
      ...manifest.dependencies,
      ...manifest.optionalDependencies,
    })) {
      expect(named, `${path}: ${name}`).toContain(`pkg:npm/${name}@${version}`);
      demanded += 1;
    }
  }
  expect(demanded).toBeGreaterThan(50);
  expect(bom.components.flatMap(({ cpe = [] }) => cpe)).toEqual(
    Array(2).fill(`cpe:2.3:a:nodejs:node.js:${process.versions.node}:*:*:*:*:*:*:*`),
  );
  expect([...named].filter((purl) => /\/(?:vitest|typescript|fast-check|fastify)@/.test(purl))).toEqual([]);
});
