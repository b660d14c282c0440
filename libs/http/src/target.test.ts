import { describe, expect, it } from 'vitest';
import { compilePath, parseTarget } from './target.ts';

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

describe('compilePath', () => {
  const template = '/v1/interns/{internId}/icon';

  it('returns the raw parameters of a matching path', () => {
    expect(compilePath(template)('/v1/interns/int%5F1/icon')).toEqual({ internId: 'int%5F1' });
    expect(compilePath('/livez')('/livez')).toEqual({});
  });

  it.each([
    '/v1/interns//icon',
    '/v1/interns/a/icon/',
    '/v1/interns/a/Icon',
    '/v1/interns/a/b/icon',
    '//v1/interns/a/icon',
    '/v1/interns/a/%69con',
    '/v1/interns/a/icon;x',
    '/v1/./interns/a/icon',
    'v1/interns/a/icon',
  ])('does not match %s', (path) => {
    expect(compilePath(template)(path)).toBeUndefined();
  });
});
