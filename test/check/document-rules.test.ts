import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { judgeDocument } from './document-rules.ts';

function judge(text: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'ori-document-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'README.md');
  writeFileSync(file, text);
  return judgeDocument(file, new Set(['check'])).map((complaint) => complaint.replace(`${file}: `, ''));
}

const LONG = 'text\n'.repeat(160);

test.each([
  ['a link to a file that does not exist', '[a](missing.md)', 'no file at missing.md'],
  ['an anchor that no heading has', '# One\n[a](#two)', 'no heading for #two'],
  ['an npm script that does not exist', 'Run `npm run chekc`.', 'no npm script chekc'],
  ['a long document whose contents omit a section', `# A\n[b](#b)\n## B\n${LONG}## C\n`, 'omit "C"'],
])('refuses %s', (_, text, complaint) => {
  expect(judge(text)).toEqual([expect.stringContaining(complaint)]);
});

test.each([
  ['a link, an anchor and a script that exist', '# One: two\n[a](README.md#one-two) `npm run check`'],
  ['a long document that lists every section', `# A\n[b](#b) [c](#c)\n## B\n${LONG}## C\n`],
  ['a short document without contents', '# A\n## B\n'],
  ['a heading inside a code block', `# A\n${LONG}\`\`\`sh\n## not a heading\n\`\`\`\n`],
])('accepts %s', (_, text) => {
  expect(judge(text)).toEqual([]);
});
