import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const FOLDER = join(import.meta.dirname, '..');
const rows = readFileSync(join(import.meta.dirname, 'promises.tsv'), 'utf8')
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((row) => row.split('\t').slice(1) as [promise: string, file: string, test: string]);
const promises = new Set(rows.map(([promise]) => promise));

/** The first cells of the tables of SECURITY.md that say what an attacker cannot do. */
const attackers = readFileSync(join(FOLDER, '../SECURITY.md'), 'utf8')
  .split(/^### /m)
  .filter((section) => section.includes('| Cannot |'))
  .flatMap((section) => [...section.matchAll(/^\| (?!The attacker)(.+?) \| /gm)])
  .map(([, attacker = '']) => attacker);

/** What README.md says that a proof proves: each item of the list, and each paragraph after it. */
const [, section = ''] = readFileSync(join(FOLDER, '../README.md'), 'utf8').split('## What a proof proves');
const proven = (section.split('It does **not** cover')[0] ?? '')
  .split(/\n\n|\n(?=- )/)
  .map((item) => item.replaceAll(/\s+/g, ' ').trim())
  .filter((item) => item !== '' && item !== 'At the time in the proof, the signer')
  .map((item) => item.replace(/^- |^To a verifier with a replay store, /, '').replace(/[;.]$/, ''));

test('a test backs each thing that a proof proves', () => {
  expect(proven.length).toBeGreaterThan(0);
  expect(proven.filter((item) => !promises.has(item))).toEqual([]);
});

test.each(rows)('a test backs the promise: %s', (_promise, file, name) => {
  const text = readFileSync(join(FOLDER, file), 'utf8');
  expect(text).toContain(name);
});

test('a test backs each row of the threat model', () => {
  expect(attackers.length).toBeGreaterThan(20);
  expect(attackers.filter((attacker) => !promises.has(attacker))).toEqual([]);
});

test('a service of callers with accounts counts the requests of each', () => {
  const services = join(FOLDER, '../services');
  const counting = ['guard', 'log', 'management', 'signer'].filter((service) =>
    globSync(`${service}/src/**/!(*.test).ts`, { cwd: services }).some((file) =>
      / countFor\(exchange/.test(readFileSync(join(services, file), 'utf8')),
    ),
  );
  expect(counting).toEqual(['guard', 'management', 'signer']);
});
