import { findRefused } from '../../services/management/src/guardrails/linear-patterns.ts';

// biome-ignore lint/suspicious/noExplicitAny: any part of an OpenAPI document
type Part = any;

/**
 * What keeps common generators and validators from reading an OpenAPI document, which linters do not know:
 *
 * - a pattern that RE2, Rust's regex crate or ECMAScript with the flag `u` does not compile, or that is not anchored at
 *   both ends: some clients match from the start only;
 * - a schema that is only null;
 * - an array that `contains` something: some clients then do not know its items;
 * - an answer with a body of no schema: some clients then have no answer;
 * - a boolean that is constant: clients in Java and Rust do not compile;
 * - a number that is no double: clients in Kotlin send it as text;
 * - a header that a refusal requires: clients of ogen do not compile if another refusal does not.
 */
export function judgeForTools(document: object): string[] {
  return [...partsOf(document, '')].flatMap(([pointer, part]) => [
    ...(typeof part.pattern === 'string' ? judgePattern(part.pattern) : []).map(
      (fault) => `${pointer}: the pattern ${part.pattern} ${fault}`,
    ),
    ...(part.type === 'null' && !/\/(?:anyOf|oneOf)\/\d+$/.test(pointer) ? [`${pointer}: only null`] : []),
    ...(part.type === 'boolean' && 'const' in part ? [`${pointer}: a constant boolean`] : []),
    ...([part.type].flat().includes('number') && part.format !== 'double' ? [`${pointer}: no double`] : []),
    ...(part.required === true && /\/responses\/[45]\d\d\/headers\/[^/]+$/.test(pointer)
      ? [`${pointer}: a required header`]
      : []),
    ...('contains' in part ? [`${pointer}: contains`] : []),
    ...(/\/responses\/(?!304)\w+$/.test(pointer) ? judgeAnswer(part) : []).map(
      (fault) => `${pointer}: ${fault}`,
    ),
  ]);
}

/** Every object of the document but those of examples, which are data. */
function* partsOf(part: Part, pointer: string): Generator<[string, Part]> {
  if (typeof part !== 'object' || part === null) return;
  if (!Array.isArray(part)) yield [pointer, part];
  for (const [name, member] of Object.entries(part)) {
    if (name === 'example' || name === 'examples') continue;
    yield* partsOf(member, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
}

function judgeAnswer({ content = { 'a body': {} } }: Part): string[] {
  return Object.entries<Part>(content)
    .filter(([, { schema }]) => schema === undefined)
    .map(([type]) => `${type} without a schema`);
}

function judgePattern(pattern: string): string[] {
  const { refused } = findRefused([pattern]);
  const faults = refused === undefined ? [] : [`is ${refused.reason}`];
  const outside = pattern.replaceAll(/\((?:[^()]|\([^()]*\))*\)/g, '');
  if (!/^\^[^|]*\$$/.test(outside)) faults.push('is not anchored at both ends');
  try {
    new RegExp(pattern, 'u');
  } catch {
    faults.push('is not ECMAScript');
  }
  // Rust has sets of characters within sets, and operators on them.
  for (const [, set = ''] of pattern.matchAll(/(?<!\\)\[\^?((?:\\.|[^\]\\])*)\]/g))
    if (/(?<!\\)\[|&&|--|~~/.test(set)) faults.push('has a set that Rust reads differently');
  return faults;
}
