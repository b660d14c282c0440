import type { Scope } from './scopes.ts';

interface Matcher {
  readonly location: Scope;
  readonly kind: 'exact' | 'prefix' | 'final' | 'regex' | 'named';
  readonly pattern: string;
  readonly ignoreCase: boolean;
}

/**
 * The location that nginx chooses for a normalized path, or for an `@name`: the exact one, otherwise the longest prefix
 * unless a regular expression matches, inner locations before outer ones. Undefined if none matches.
 */
export function findLocation(server: Scope, path: string): Scope | undefined {
  const matchers = matchersOf(server);
  if (path.startsWith('@')) {
    return matchers.find(({ kind, pattern }) => kind === 'named' && pattern === path)?.location;
  }
  const exact = matchers.find(({ kind, pattern }) => kind === 'exact' && pattern === path);
  if (exact !== undefined) return exact.location;
  const longest = matchers
    .filter(({ kind, pattern }) => (kind === 'prefix' || kind === 'final') && path.startsWith(pattern))
    .reduce<Matcher | undefined>(
      (best, next) => (best === undefined || next.pattern.length > best.pattern.length ? next : best),
      undefined,
    );
  const inner = longest === undefined ? undefined : findLocation(longest.location, path);
  if (inner !== undefined) return inner;
  if (longest?.kind !== 'final') {
    const regex = matchers.find((matcher) => matcher.kind === 'regex' && isMatch(matcher, path));
    if (regex !== undefined) return findLocation(regex.location, path) ?? regex.location;
  }
  return longest?.location;
}

/** The path of a prefix or exact location; undefined for others. */
export function prefixOf(location: Scope): string | undefined {
  const { kind, pattern } = toMatcher(location);
  return kind === 'regex' || kind === 'named' ? undefined : pattern;
}

const KNOWN = new WeakMap<Scope, readonly Matcher[]>();

function matchersOf(scope: Scope): readonly Matcher[] {
  const known = KNOWN.get(scope) ?? scope.children.filter(({ kind }) => kind === 'location').map(toMatcher);
  KNOWN.set(scope, known);
  return known;
}

const MODIFIERS = { '=': 'exact', '^~': 'final', '~*': 'regex', '~': 'regex' } as const;

function toMatcher(location: Scope): Matcher {
  const [first = '', second] = location.directive?.args ?? [];
  for (const [modifier, kind] of Object.entries(MODIFIERS)) {
    // nginx accepts the modifier with and without a space after it.
    if (second !== undefined ? first === modifier : first.startsWith(modifier)) {
      const pattern = second ?? first.slice(modifier.length);
      return { location, kind, pattern, ignoreCase: modifier === '~*' };
    }
  }
  return { location, kind: first.startsWith('@') ? 'named' : 'prefix', pattern: first, ignoreCase: false };
}

// A PCRE pattern that JavaScript does not support counts as matching, so that nothing is overlooked.
function isMatch({ pattern, ignoreCase }: Matcher, path: string): boolean {
  const plain = pattern.replace(/\(\?P</g, '(?<');
  const inline = /^\(\?i\)/.test(plain);
  try {
    return new RegExp(inline ? plain.slice(4) : plain, ignoreCase || inline ? 'i' : '').test(path);
  } catch {
    return true;
  }
}
