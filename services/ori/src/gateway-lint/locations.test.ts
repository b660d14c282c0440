import { expect, it } from 'vitest';
import { findLocation } from './locations.ts';
import { parseConfiguration } from './nginx/parser.ts';
import { toHttpScopes } from './scopes.ts';

/** The arguments of the location that a server with these locations chooses, joined; undefined if none matches. */
function chosen(locations: readonly string[], path: string): string | undefined {
  const text = locations
    .map((head) => (head.endsWith('}') ? `location ${head}` : `location ${head} {}`))
    .join('\n');
  const server = toHttpScopes(parseConfiguration(text, 'a.conf'))[0]?.children[0];
  return server && findLocation(server, path)?.directive?.args.join(' ');
}

it.each<[string, string[], string, string | undefined]>([
  ['the longest prefix', ['/', '/a/b', '/a'], '/a/b/c', '/a/b'],
  ['the longest prefix in any order', ['/a/b', '/a', '/'], '/a/b/c', '/a/b'],
  ['an exact one before a regular expression', ['= /a', '~ ^/a$', '/'], '/a', '= /a'],
  ['an exact one only for that path', ['= /a', '/'], '/a/', '/'],
  ['a regular expression before a longer prefix', ['/a/b/c', '~ ^/a'], '/a/b/c', '~ ^/a'],
  ['the first regular expression', ['~ b', '~ a'], '/ab', '~ b'],
  ['a final prefix before a regular expression', ['^~ /a', '~ ^/a'], '/a', '^~ /a'],
  ['a regular expression where a longer prefix is not final', ['^~ /a', '/a/b', '~ c$'], '/a/b/c', '~ c$'],
  ['case-sensitive', ['~ ^/A', '/'], '/a', '/'],
  ['case-insensitive', ['~* ^/A', '/'], '/a', '~* ^/A'],
  ['case-insensitive by an inline flag', ['~ (?i)^/A', '/'], '/a', '~ (?i)^/A'],
  ['a named capture of PCRE', ['~ ^/(?P<x>a)$', '/'], '/a', '~ ^/(?P<x>a)$'],
  ['an unsupported pattern counts as matching', ['~ ^/(?>a)\\Kb', '/'], '/zzz', '~ ^/(?>a)\\Kb'],
  ['a modifier without a space', ['=/a', '~^/b', '/'], '/b', '~^/b'],
  ['an inner location before the outer', ['/a { location /a/b { } }', '/'], '/a/b', '/a/b'],
  ['the outer one if no inner one matches', ['/a { location /a/b { } }', '/'], '/a/c', '/a'],
  ['one within a regular expression', ['~ ^/a { location ~ b { } }'], '/ab', '~ b'],
  ['a name', ['/', '@a'], '@a', '@a'],
  ['a named location is not reached by a path', ['@a'], '/@a', undefined],
  ['a name does not match a path', ['/', '~ .'], '@a', undefined],
  ['none', ['/a'], '/b', undefined],
])('chooses %s', (_what, locations, path, location) => {
  expect(chosen(locations, path)).toBe(location);
});
