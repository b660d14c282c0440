import { execFile } from 'node:child_process';
import { cp, glob, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Copies the manifests and the changesets to a new repository. */
async function copyManifests(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'ori-release-'));
  onTestFinished(() => rm(copy, { recursive: true, force: true }));
  const places = ['package-lock.json', 'package.json', 'libs/*/*/package.json', 'services/*/package.json'];
  const manifests = glob([...places, 'test/env/package.json'], { cwd: ROOT });
  for await (const manifest of manifests) await cp(join(ROOT, manifest), join(copy, manifest));
  await cp(join(ROOT, '.changeset'), join(copy, '.changeset'), { recursive: true });
  const git = (...words: string[]) =>
    run('git', ['-c', 'user.name=test', '-c', 'user.email=test@example', ...words], { cwd: copy });
  await git('init', '--quiet', '--initial-branch=main');
  await git('add', '.');
  await git('commit', '--quiet', '--message', 'all');
  return copy;
}

test('a release raises all versions equally and writes the changelog from the notes', async () => {
  const copy = await copyManifests();
  const note = 'Refuses what nobody should accept.';
  await writeFile(join(copy, '.changeset/note.md'), `---\n"@ori/verifier": minor\n---\n\n${note}\n`);
  await run(join(ROOT, 'node_modules/.bin/changeset'), ['version'], { cwd: copy });
  const versions = new Set<string>();
  for (const folder of ['libs/public/proof', 'libs/public/verifier', 'services/ori']) {
    const manifest = JSON.parse(await readFile(join(copy, folder, 'package.json'), 'utf8'));
    versions.add(manifest.version);
    for (const [other, range] of Object.entries(manifest.dependencies ?? {})) {
      if (other.startsWith('@ori/')) expect(range).toBe(manifest.version);
    }
  }
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const [major, minor] = version.split('.').map(Number);
  expect([...versions]).toEqual([`${major}.${minor + 1}.0`]);
  expect(await readFile(join(copy, 'libs/public/verifier/CHANGELOG.md'), 'utf8')).toContain(note);
  expect((await readdir(join(copy, '.changeset'))).sort()).toEqual(['README.md', 'config.json']);
});
