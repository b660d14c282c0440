import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { judgeImports } from './import-rules.ts';

const paths = execFileSync(
  'git',
  ['ls-files', '-z', '--cached', '--others', '--exclude-standard', 'libs', 'services'],
  {
    encoding: 'utf8',
  },
).split('\0');
const files = paths
  .filter((path) => /\.[jt]s$/.test(path) && existsSync(path))
  .map((path) => ({ path, text: readFileSync(path, 'utf8') }));

const complaints = judgeImports(files);
if (complaints.length > 0) {
  console.error(complaints.join('\n'));
  process.exit(1);
}
