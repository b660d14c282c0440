import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { variableName } from '@ori/runtime/config';
import { expect, test } from 'vitest';
import { SIGNER_SPEC } from '../../services/signer/src/config.ts';

const SIGNER = join(import.meta.dirname, '../../services/signer');
const text = readFileSync(join(SIGNER, 'AUDIT.md'), 'utf8');
const rows = [...text.matchAll(/^\| (.+?) \| \[[^\]]+\]\((.+?)\) \| `(.+)` \|$/gm)].map(
  ([, question = '', file = '', line = '']) => ({ question, file, line: line.replaceAll('\\|', '|') }),
);

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
  expect(having(/\w[kK]ey\.sign\(|\bkey\.sign\(|\{[^}]*\bsign\b[^}]*\} from 'node:crypto'/)).toEqual([
    'src/core/stages/sign.ts',
    'src/keys/freshness.ts',
  ]);
  expect(having(/new (?:Written|TurnTaken|ClockChecked)\(/)).toEqual([
    'src/effects/audit-file.ts',
    'src/effects/turns.ts',
    'src/facts/clock-watch.ts',
  ]);
});

test('AUDIT.md names settings that exist', () => {
  const known = Object.keys(SIGNER_SPEC).map((key) => variableName('SIGNER', key));
  const named = [...text.matchAll(/`(SIGNER_\w+)/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((name) => !known.includes(name ?? ''))).toEqual([]);
});
