import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { judgeDocument } from './document-rules.ts';

/** Checks every Markdown file, and that each package has a README and is in the layout. Exits with 1 on a complaint. */
const tracked = execFileSync(
  'git',
  ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '*.md'],
  { encoding: 'utf8' },
);
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
const complaints = tracked
  .split('\0')
  .filter((name) => name !== '' && existsSync(name))
  .flatMap((file) => judgeDocument(file, new Set(Object.keys(scripts))));

const listed = readFileSync('README.md', 'utf8');
for (const folder of ['libs', 'services']
  .flatMap((parent) => globSync(`${parent}/*/package.json`))
  .map(dirname)) {
  if (!existsSync(join(folder, 'README.md'))) complaints.push(`${folder}: no README.md`);
  if (!listed.includes(`\`${folder}\``)) complaints.push(`README.md: the repository layout omits ${folder}`);
}

if (complaints.length > 0) {
  console.error(complaints.join('\n'));
  process.exit(1);
}
