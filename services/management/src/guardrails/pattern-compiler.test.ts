import { once } from 'node:events';
import { join } from 'node:path';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, it } from 'vitest';
import { createPatternCompiler } from './pattern-compiler.ts';

const patterns = createPatternCompiler();
const { signal } = new AbortController();
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
    patterns.requireLinear(filters('\\b(sk-[a-zA-Z0-9]{48})\\b', '(a+)+$'), 'org', signal),
  ).resolves.toBeUndefined();
});

it.each([[undefined], [null], [[]]])('accepts no patterns: %j', async (none) => {
  await expect(patterns.requireLinear(none, 'org', signal)).resolves.toBeUndefined();
});

it('leaves no timer', async () => {
  await patterns.requireLinear(filters('a'), 'org', signal);
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  await patterns.requireLinear(filters('a'), 'org', signal);
  expect(timers()).toBeLessThanOrEqual(before);
});

it.each(['(a)\\1', '(?=a)b', '(?<!a)b', '(', 'a{1000}{1000}', '[z-a]', 'a**'])(
  'refuses %s and names its position',
  async (pattern) => {
    await expect(patterns.requireLinear(filters('ok', pattern), 'org', signal)).rejects.toEqual(refusedAt(1));
  },
);

/** 200 fixed patterns: nested quantifiers, long alternations, huge repeats, deep groups, wide classes. */
const HOSTILE = Array.from({ length: 40 }, (_, index) => index + 1).flatMap((n) => {
  const word = 'a'.repeat(n);
  return [
    `(${word}+)+$`,
    `(${word}|${word}?)*${'b'.repeat(n)}`,
    `(?:${'x?'.repeat(n * 4)}){${n * 20}}`,
    Array.from({ length: n * 5 }, (_, i) => `w${i}`).join('|'),
    `${'('.repeat(n * 10)}a${')'.repeat(n * 10)}{1,${n * 25}}`,
  ].map((pattern) => pattern.slice(0, 1000));
});

it('accepts or refuses each of 200 hostile patterns', async () => {
  const outcomes = new Set<string>();
  for (const pattern of HOSTILE) {
    const verdict = patterns.requireLinear(filters(pattern), 'org', signal);
    outcomes.add(
      await verdict.then(
        () => 'accepted',
        (error) => error.code,
      ),
    );
  }
  expect([...outcomes].sort()).toEqual(['accepted', 'invalid_parameters']);
});

it('an account waits for the patterns in progress and for one of each other account, not for all that they queued', async () => {
  const ended: string[] = [];
  const compile = (account: string) =>
    patterns.requireLinear(filters('(a|b){100}'), account, signal).then(() => ended.push(account));
  await Promise.all([...['a', 'b', 'c'].flatMap((loud) => Array(8).fill(loud)), 'quiet'].map(compile));
  expect(ended.slice(0, 5)).toEqual(['a', 'a', 'b', 'c', 'quiet']);
});

it('refuses an account with too many waiting patterns, and drops abandoned ones', async () => {
  const gone = new AbortController();
  const compile = (at: AbortSignal) => patterns.requireLinear(filters('a{500}'), 'loud', at);
  const waiting = Array.from({ length: 65 }, () => compile(gone.signal));
  const refused = compile(signal);
  gone.abort(new Error('gone'));
  await expect(refused).rejects.toMatchObject({ code: 'busy', budget: 'account' });
  const outcomes = await Promise.allSettled(waiting);
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(64);
});

it('refuses an account that 1,000 requests of others wait before', async () => {
  const gone = new AbortController();
  const compile = (account: string, at: AbortSignal) =>
    patterns.requireLinear(filters('a{500}'), account, at);
  const waiting = Array.from({ length: 1001 }, (_, index) => compile(`account ${index}`, gone.signal));
  const refused = compile('quiet', signal);
  gone.abort(new Error('gone'));
  await expect(refused).rejects.toMatchObject({ code: 'busy', budget: 'patterns' });
  await Promise.allSettled(waiting);
});

it('compiles on another thread while this one continues', async () => {
  // The maximum total size.
  const large = filters(...Array.from({ length: 12 }, () => 'a{2,1000}'.repeat(5)));
  const patient = createPatternCompiler({ cpuMs: 60_000 });
  let isCompiled = false;
  const compiling = patient.requireLinear(large, 'org', signal).then(() => {
    isCompiled = true;
  });
  let turns = 0;
  for (; !isCompiled; turns += 1) await turnOfTheLoop();
  await compiling;
  await patient.close();
  // On this thread the loop would turn once for each pattern at most.
  expect(turns).toBeGreaterThan(10 * large.length);
});

it('gives up on patterns that take more CPU time than they may, and on no others', async () => {
  const large = filters(...Array.from({ length: 12 }, () => 'a{2,1000}'.repeat(5)));
  const thread = new Worker(join(import.meta.dirname, 'pattern-compiler-worker.ts'));
  await once(thread, 'online');
  const before = await thread.cpuUsage();
  thread.postMessage(large.map(({ pattern }) => pattern));
  await once(thread, 'message');
  const { user, system } = await thread.cpuUsage(before);
  await thread.terminate();
  const tookMs = (user + system) / 1000;
  const compile = async (cpuMs: number) => {
    const compiler = createPatternCompiler({ cpuMs });
    const code = await compiler.requireLinear(large, 'org', signal).catch((error) => error.code);
    await compiler.close();
    return code;
  };
  expect(await compile(tookMs / 3)).toBe('invalid_parameters');
  expect(await compile(3 * tookMs)).toBeUndefined();
});

it('gives up on patterns that take too long, and compiles the next ones', async () => {
  const hurried = createPatternCompiler({ cpuMs: 1 });
  const large = filters(...Array.from({ length: 50 }, () => 'a{2,1000}'.repeat(5)));
  await expect(hurried.requireLinear(large, 'org', signal)).rejects.toMatchObject({
    code: 'invalid_parameters',
  });
  await hurried.close();
  await expect(patterns.requireLinear(filters('fine'), 'org', signal)).resolves.toBeUndefined();
});
