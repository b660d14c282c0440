import { expect, it } from 'vitest';
import { startManagementWorld } from './world.ts';

/** 200 fixed patterns: nested quantifiers, long alternations, huge repeats, deep groups, wide classes. */
function hostilePatterns(): string[] {
  const patterns: string[] = [];
  for (let n = 1; n <= 40; n += 1) {
    const word = 'a'.repeat(n);
    patterns.push(`(${word}+)+$`, `(${word}|${word}?)*${'b'.repeat(n)}`);
    patterns.push(`(?:${'x?'.repeat(n * 4)}){${n * 20}}`.slice(0, 1000));
    patterns.push(
      Array.from({ length: n * 5 }, (_, i) => `w${i}`)
        .join('|')
        .slice(0, 999),
    );
    patterns.push(`${'('.repeat(n * 10)}a${')'.repeat(n * 10)}{1,${n * 25}}`);
  }
  return patterns;
}

it('accepts or refuses each of 200 hostile patterns', async () => {
  await using world = await startManagementWorld();
  const patterns = hostilePatterns();
  expect(patterns).toHaveLength(200);
  const statuses = new Set<number>();
  for (const pattern of patterns) {
    const { status } = await world.call({
      method: 'POST',
      path: '/guardrails',
      json: { name: 'hostile', content_filters: [{ pattern, action: 'block', label: null }] },
    });
    statuses.add(status);
  }
  expect([...statuses].sort()).toEqual([201, 400]);
});

it('fifty of the largest in one request are refused for their size, while other requests are answered', async () => {
  await using world = await startManagementWorld();
  const pattern = 'a{2,1000}'.repeat(100);
  const filters = Array.from({ length: 50 }, () => ({ pattern, action: 'block', label: null }));
  const heavy = world.call({
    method: 'POST',
    path: '/guardrails',
    json: { name: 'heavy', content_filters: filters },
  });
  const meanwhile = await world.call({ path: '/guardrails' });
  expect(meanwhile.status).toBe(200);
  expect((await heavy).status).toBe(400);
});
