import fc from 'fast-check';
import { expect, it } from 'vitest';
import { pathsLike } from './path-guesses.ts';

const guesses = (path: string) => pathsLike(path, 'http://daemon:1');

it.each([
  ['slashes merged', '/a//b', '/a/b'],
  ['dots resolved', '/a/./b/../c', '/a/c'],
  ['a last dot resolved', '/a/b/..', '/a/'],
  ['decoded', '/a%41b', '/aAb'],
  ['decoded and resolved', '/a/%2e%2e/b', '/b'],
  ['decoded, then encoded anew', '/a%20%41', '/a%20A'],
  ['characters encoded that were not', '/a|{b}', '/a%7C%7Bb%7D'],
  ['a slash decoded', '/a%2Fb', '/a/b'],
  ['hex in capitals', '/a%2f', '/a%2F'],
  ['hex in small letters', '/a%2F', '/a%2f'],
  ['a slash more', '/a/b', '/a/b/'],
  ['a slash less', '/a/b/', '/a/b'],
  ['the first segment gone', '/api/invoke', '/invoke'],
  ['two segments gone', '/v1/api/invoke', '/invoke'],
  ['a segment gone, a slash left', '/api/invoke', '//invoke'],
  ['all but the root gone', '/api', '/'],
  ['in absolute form', '/api', 'http://daemon:1/api'],
  ['nothing left', '/api', ''],
])('guesses %s', (_what, path, arrived) => expect(guesses(path)).toContain(arrived));

it('never includes the path itself, and is bounded', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^\/[\x21\x22\x24-\x3e\x40-\x7e]{0,60}$/), (path) => {
      expect(guesses(path)).not.toContain(path);
      expect(guesses(path).length).toBeLessThan(400);
    }),
  );
});
