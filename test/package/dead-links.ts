import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { glob, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { publicationOf } from '../../deploy/bundle/documents.ts';
import { judgeDocument } from '../check/document-rules.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Links in the documents of a tarball to files or headings that it does not contain, or to files that the repository does not. */
export async function deadLinksOf(tarball: string): Promise<string[]> {
  const { homepage } = await publicationOf('');
  const folder = await mkdtemp(join(tmpdir(), 'ori-links-'));
  try {
    await promisify(execFile)('tar', ['-xzf', tarball, '-C', folder]);
    const dead: string[] = [];
    for await (const name of glob('**/*.md', { cwd: folder })) {
      const file = join(folder, name);
      dead.push(...judgeDocument(file, new Set()).filter((fault) => /: no (?:file|heading) /.test(fault)));
      for (const [, path = ''] of (await readFile(file, 'utf8')).matchAll(/\]\(([^)\s#]+)/g)) {
        if (!path.startsWith(homepage)) continue;
        if (!existsSync(join(ROOT, path.replace(`${homepage}/blob/HEAD/`, ''))))
          dead.push(`${name}: ${path}`);
      }
    }
    return dead;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
