import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { judgeImports } from './import-rules.ts';
import { wingFolders } from './wings.ts';

const FOLDERS = ['libs', 'services'];
const listed = execFileSync(
  'git',
  ['ls-files', '-z', '--cached', '--others', '--exclude-standard', ...FOLDERS],
  {
    encoding: 'utf8',
  },
);
const paths = listed.split('\0').filter((path) => path !== '' && existsSync(path));
const packages = paths
  .filter((path) => path.endsWith('/package.json'))
  .map((path) => {
    const { name, exports = {} } = JSON.parse(readFileSync(path, 'utf8'));
    return { name, exports, folder: dirname(path) };
  });
const wings = wingFolders(paths);
const files = paths
  .filter((path) => /\.[jt]s$/.test(path))
  .map((path) => ({ path, text: readFileSync(path, 'utf8') }));

const problems = judgeImports(files, packages, wings);
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}
