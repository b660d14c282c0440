import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../../../..');
const SOURCE = readFileSync(join(import.meta.dirname, '../sign-proof.ts'), 'utf8');

/** Every stage, and every adapter on whose statement a stage decides. */
const CALLS = [
  'checkHost',
  'authenticate',
  'requireHolder',
  'requireScope',
  'requireContent',
  'readRequest',
  'passGate',
  'unlockKey',
  'clock.check',
  'draftProof',
  'turns.take',
  'throttle',
  'reserveNonce',
  'audit.append',
  'record',
  'sign',
];

/** What might stand in the place of a call: each of its arguments, an object with their names, or nothing. */
const COPIES = [['unmodified', SOURCE] as const, ...CALLS.flatMap(copiesWithout)];

// Below node_modules, where the packages of the workspace are found from.
mkdirSync(join(ROOT, 'node_modules/.cache'), { recursive: true });
const folder = mkdtempSync(join(ROOT, 'node_modules/.cache/stages-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a stage that is left out does not compile', () => {
  COPIES.forEach(([, text], index) => {
    const copy = text.replaceAll("'./stages/", `'${relative(folder, import.meta.dirname)}/`);
    writeFileSync(join(folder, `copy-${index}.ts`), copy);
  });
  const config = {
    extends: join(ROOT, 'tsconfig.json'),
    include: ['*.ts'],
    compilerOptions: { types: ['node'] },
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...config, exclude: [] }));
  const problems = compile();
  const compiling = COPIES.filter((_, index) => !problems.includes(`copy-${index}.ts(`));
  expect(compiling.map(([what]) => what)).toEqual(['unmodified']);
}, 240_000);

function compile(): string {
  try {
    return execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder, '--pretty', 'false'], {
      encoding: 'utf8',
      cwd: ROOT,
    });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

function copiesWithout(name: string): (readonly [string, string])[] {
  const found = new RegExp(`(?<![\\w.])${name.replaceAll('.', '\\.')}\\(`).exec(SOURCE);
  if (found === null) throw new Error(`no call of ${name}`);
  const [end, words] = argumentsFrom(found.index + found[0].length);
  const [before, after] = [SOURCE.slice(0, found.index), SOURCE.slice(end + 1)];
  const names = words.filter((word) => /^\w+$/.test(word));
  const instead = [...words, `{ ${names.join(', ')} }`, 'undefined'];
  return instead.map((word) => [`${word} instead of ${name}`, `${before}(${word})${after}`] as const);
}

/** The place of the closing parenthesis, and the arguments before it. */
function argumentsFrom(start: number): [number, string[]] {
  const words: string[] = [];
  for (let at = start, from = start, depth = 0; at < SOURCE.length; at++) {
    const character = SOURCE[at] ?? '';
    if (depth === 0 && (character === ',' || character === ')')) {
      const word = SOURCE.slice(from, at).trim();
      if (word !== '') words.push(word);
      from = at + 1;
      if (character === ')') return [at, words];
    }
    if ('([{'.includes(character)) depth++;
    if (')]}'.includes(character)) depth--;
  }
  throw new Error('no closing parenthesis');
}
