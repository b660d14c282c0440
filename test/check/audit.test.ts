import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SIGNER = join(import.meta.dirname, '../../services/signer');
const rows = [
  ...readFileSync(join(SIGNER, 'AUDIT.md'), 'utf8').matchAll(
    /^\| (.+?) \| \[[^\]]+\]\((.+?)\) \| `(.+)` \|$/gm,
  ),
].map(([, question = '', file = '', line = '']) => ({ question, file, line: line.replaceAll('\\|', '|') }));

test.each(rows)('AUDIT.md: $question', ({ file, line }) => {
  expect(readFileSync(join(SIGNER, file), 'utf8').split(line)).toHaveLength(2);
});

test('AUDIT.md names every file of the signer that signs, or that states what the core needs from outside', () => {
  const sources = globSync('src/**/*.ts', { cwd: SIGNER }).filter(
    (file) => !/\.(test|fixture)\.ts$/.test(file),
  );
  const having = (pattern: RegExp) =>
    sources.filter((file) => pattern.test(readFileSync(join(SIGNER, file), 'utf8'))).sort();
  expect(rows.length).toBeGreaterThan(30);
  expect(having(/[kK]ey\.sign\(/)).toEqual(['src/core/stages/sign.ts', 'src/keys/key-set-roles.ts']);
  expect(having(/new (?:Written|TurnTaken|ClockChecked)\(/)).toEqual([
    'src/effects/audit-file.ts',
    'src/effects/turns.ts',
    'src/facts/clock-watch.ts',
  ]);
});
