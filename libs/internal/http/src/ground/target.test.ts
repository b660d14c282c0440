import { describe, expect, it } from 'vitest';
import { parseTarget } from './target.ts';

describe('parseTarget', () => {
  it.each([
    ['/a/b', { path: '/a/b' }],
    ['/a?', { path: '/a', query: '' }],
    ['/a?b?c=/d', { path: '/a', query: 'b?c=/d' }],
    ['//evil/a', { path: '//evil/a' }],
    ['/a/../b/%2e%2E/%zz', { path: '/a/../b/%2e%2E/%zz' }],
    ['/a\\b', { path: '/a\\b' }],
  ])('splits %j and changes nothing', (target, expected) => {
    expect(parseTarget(target)).toEqual(expected);
  });

  it.each([undefined, '', '*', 'http://x/a', 'x:443', 'a', '?a', '/a#b'])('refuses %j', (target) => {
    expect(parseTarget(target)).toBeUndefined();
  });
});
