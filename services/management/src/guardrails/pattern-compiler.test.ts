import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { createPatternCompiler } from './pattern-compiler.ts';

const patterns = createPatternCompiler();
afterAll(() => patterns.close());

const filters = (...list: string[]) =>
  list.map((pattern) => ({ pattern, action: 'redact' as const, label: null }));
const refusedAt = (index: number) =>
  expect.objectContaining({
    code: 'invalid_parameters',
    message: expect.stringContaining(`content_filters.${index}`),
  });

it('accepts patterns that a linear-time engine compiles', async () => {
  await expect(
    patterns.requireLinear(filters('\\b(sk-[a-zA-Z0-9]{48})\\b', '(a+)+$')),
  ).resolves.toBeUndefined();
});

it.each(['(a)\\1', '(?=a)b', '(?<!a)b', '(', 'a{1000}{1000}', '[z-a]', 'a**'])(
  'refuses %s and names its place',
  async (pattern) => {
    await expect(patterns.requireLinear(filters('ok', pattern))).rejects.toEqual(refusedAt(1));
  },
);

it('refuses a pattern whose repetitions written out are too large, before anything is compiled', async () => {
  const hurried = createPatternCompiler({ timeoutMs: 0 });
  await expect(hurried.requireLinear(filters('a{1000}'.repeat(6)))).rejects.toEqual(refusedAt(0));
  await hurried.close();
});

it('compiles on another thread, while this one goes on', async () => {
  const large = filters(...Array.from({ length: 50 }, () => 'a{2,1000}'.repeat(5)));
  const patient = createPatternCompiler({ timeoutMs: 60_000 });
  let isCompiled = false;
  const compiling = patient.requireLinear(large).then(() => {
    isCompiled = true;
  });
  let turns = 0;
  for (; !isCompiled; turns += 1) await turnOfTheLoop();
  await compiling;
  await patient.close();
  // On this thread the loop would turn once for each pattern at most.
  expect(turns).toBeGreaterThan(10 * large.length);
});

it('gives up on patterns that take too long, and goes on to compile the next', async () => {
  const hurried = createPatternCompiler({ timeoutMs: 1 });
  const large = filters(...Array.from({ length: 50 }, () => 'a{2,1000}'.repeat(5)));
  await expect(hurried.requireLinear(large)).rejects.toMatchObject({ code: 'invalid_parameters' });
  await hurried.close();
  await expect(patterns.requireLinear(filters('fine'))).resolves.toBeUndefined();
});
