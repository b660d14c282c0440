import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { judgeDocument, judgeEntries } from './document-rules.ts';

function judge(text: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'ori-document-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'README.md');
  writeFileSync(file, text);
  return judgeDocument(file, new Set(['check'])).map((problem) => problem.replace(`${file}: `, ''));
}

const LONG = 'text\n\n'.repeat(80);
const WIDE = 'text '.repeat(25).trim();

test.each([
  ['a link to a file that does not exist', '[a](missing.md)', 'no file at missing.md'],
  ['an anchor that no heading has', '# One\n[a](#two)', 'no heading for #two'],
  ['an npm script that does not exist', 'Run `npm run chekc`.', 'no npm script chekc'],
  ['a line of prose beyond 120 columns', WIDE, '1: 124 columns'],
  ['a paragraph of more than five lines', 'a\n\n- b\n  c\n  d\n  e\n  f\n  g\n', '3: a paragraph of 6 lines'],
  ['a long document whose contents omit a section', `# A\n[b](#b)\n## B\n${LONG}## C\n`, 'omit "C"'],
])('refuses %s', (_, text, problem) => {
  expect(judge(text)).toEqual([expect.stringContaining(problem)]);
});

test('the table of entries has a row for each export and no other', () => {
  const table = '| Entry | Contents |\n|---|---|\n| `.`, `@ori/x/a` | … |\n| `./gone` | … |\n';
  expect(judgeEntries(table, '@ori/x', ['.', './a', './b'])).toEqual([
    'the table of entries omits ./b',
    'there is no entry ./gone',
  ]);
  expect(judgeEntries('no table', '@ori/x', ['.'])).toEqual([]);
});
