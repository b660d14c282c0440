import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

import { judgeDocument } from './document-rules.ts';

/** Judges every Markdown file of the checkout, and ends with status 1 if one breaks a rule. */
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

if (complaints.length > 0) {
  console.error(complaints.join('\n'));
  process.exit(1);
}
