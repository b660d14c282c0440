import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { judgeDocument, judgeEntries } from './document-rules.ts';

/** Checks every Markdown file, and that each package has a README and is in the layout. Exits with 1 on a problem. */
const tracked = execFileSync(
  'git',
  ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '*.md'],
  { encoding: 'utf8' },
);
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
const problems = tracked
  .split('\0')
  .filter((name) => name !== '' && existsSync(name))
  .flatMap((file) => judgeDocument(file, new Set(Object.keys(scripts))));

const listed = readFileSync('ARCHITECTURE.md', 'utf8');
for (const manifest of globSync(['libs/*/*/package.json', 'services/*/package.json'])) {
  const folder = dirname(manifest);
  const readme = join(folder, 'README.md');
  if (!listed.includes(`\`${folder}\``)) problems.push(`ARCHITECTURE.md: its layout omits ${folder}`);
  if (!existsSync(readme)) problems.push(`${folder}: no README.md`);
  else {
    const { name, exports = {} } = JSON.parse(readFileSync(manifest, 'utf8'));
    const faults = judgeEntries(readFileSync(readme, 'utf8'), name, Object.keys(exports));
    problems.push(...faults.map((fault) => `${readme}: ${fault}`));
  }
}

if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}
