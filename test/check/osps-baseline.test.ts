import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** The controls of levels 1 and 2 in version 2026.02.19. */
const CONTROLS = `AC-01.01 AC-02.01 AC-03.01 AC-03.02 BR-01.01 BR-01.03 BR-03.01 BR-03.02 BR-07.01 DO-01.01 DO-02.01
  GV-02.01 GV-03.01 LE-02.01 LE-02.02 LE-03.01 LE-03.02 QA-01.01 QA-01.02 QA-02.01 QA-04.01 QA-05.01 QA-05.02 VM-02.01
  AC-04.01 BR-02.01 BR-04.01 BR-05.01 BR-06.01 DO-06.01 DO-07.01 GV-01.01 GV-01.02 GV-03.02 LE-01.01 QA-03.01 QA-06.01
  SA-01.01 SA-02.01 SA-03.01 VM-01.01 VM-03.01 VM-04.01`;

const rows = [
  ...readFileSync('OSPS-BASELINE.md', 'utf8').matchAll(/^\| (OSPS-[^|]+) \|[^|]+\| ([^|]+) \|(.*)\|$/gm),
].map(([, controls = '', state = '', shown = '']) => ({ controls: controls.split(', '), state, shown }));

test('the assessment judges each control once', () => {
  const judged = rows.flatMap(({ controls }) => controls);
  expect(judged).toEqual(CONTROLS.split(/\s+/).map((name) => `OSPS-${name}`));
});

test.each(rows)('$controls: $state', ({ state, shown }) => {
  expect(['met', 'not met', 'host']).toContain(state);
  const files = [...shown.matchAll(/\]\(([^)#]+)/g)].map(([, file = '']) => file);
  if (state === 'met') expect(files).not.toEqual([]);
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
});

test('the repository contains no binary files', () => {
  // git names the lines of a binary file "-".
  const empty = execFileSync('git', ['hash-object', '-t', 'tree', '/dev/null'], { encoding: 'utf8' }).trim();
  const changes = execFileSync('git', ['diff', '--numstat', empty, 'HEAD'], { encoding: 'utf8' });
  expect(changes.split('\n').filter((line) => line.startsWith('-'))).toEqual([]);
});
