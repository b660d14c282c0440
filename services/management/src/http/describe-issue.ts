import type { z } from 'zod';

type Issue = z.core.$ZodRawIssue;

/** The maximum number of values that a message lists; for longer lists it only names the field. */
const LISTED_MAX = 12;

/** Names that may be repeated to the caller: spelled like fields of this API, which no key or token is. */
export const FIELD_NAME = /^[a-z][a-z0-9_]{0,39}$/;

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

/**
 * The predicate of the message about an invalid value, for zod's `error` option: "must be a string". The message of a
 * schema itself takes precedence.
 */
export function describeIssue(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'required' : `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return `must ${amount('at least', issue.minimum, issue.origin)}`;
    case 'too_big':
      return `must ${amount('at most', issue.maximum, issue.origin)}`;
    case 'invalid_value':
      return issue.values.length > LISTED_MAX
        ? 'not a value that is accepted here'
        : `must be one of ${issue.values.join(', ')}`;
    case 'unrecognized_keys':
      return 'unknown field';
    default:
      return 'not acceptable';
  }
}

/** The field of an issue, such as `content_filters.0.pattern`; empty for the whole value. */
export function fieldOf({ path, ...issue }: z.core.$ZodIssue): string {
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  return [...path.map(String), ...unknown.filter((name) => FIELD_NAME.test(name))].join('.');
}

function amount(bound: string, limit: number | bigint, origin: string): string {
  if (origin === 'string') return `have ${bound} ${limit} ${limit === 1 ? 'character' : 'characters'}`;
  if (origin === 'array') return `have ${bound} ${limit} ${limit === 1 ? 'item' : 'items'}`;
  return `be ${bound} ${limit}`;
}
