import { expect, it } from 'vitest';
import { filePartOf, slugOf, slugSchema } from './ids.ts';

const NAMES = [
  '工房',
  '研究室',
  'C++',
  'C#',
  'Team 東京',
  'Team 大阪',
  'Łódź',
  'Odz',
  'Ödz',
  'a_b',
  'a  b',
  'ﬁ',
  '-',
  '',
];
const LONG = ['x', 'y'].map((end) => 'word '.repeat(30) + end);

it.each([
  ['Analytical Engines', 'analytical-engines'],
  ['second-workshop', 'second-workshop'],
  ['Odz', 'odz'],
  ['Łódź', expect.stringMatching(/^odz-[0-9a-f]{16}$/)],
  ['工房', expect.stringMatching(/^[0-9a-f]{16}$/)],
])('derives from %s its slug', (name, slug) => {
  expect(slugOf(name)).toEqual(slug);
});

it('gives names that lose more than case different slugs, which are slugs', () => {
  const slugs = [...NAMES, ...LONG].map(slugOf);
  expect(new Set(slugs).size).toBe(slugs.length);
  for (const slug of slugs) expect(slugSchema.safeParse(slug).success).toBe(true);
});

it('gives texts that differ in case alone different parts of a file name', () => {
  const parts = ['CI', 'ci', 'Ci', 'c.i', 'c/i', ...LONG].map(filePartOf);
  expect(new Set(parts).size).toBe(parts.length);
  for (const part of parts) expect(part).toMatch(/^[a-z0-9-]{1,64}$/);
});
