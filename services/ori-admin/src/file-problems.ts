import { TeamFile } from '@ori/administration/apply/team';
import { closest, distance } from 'fastest-levenshtein';
import { type Document, isMap, isNode, isScalar, type LineCounter } from 'yaml';
import { z } from 'zod';

type Path = readonly PropertyKey[];

/** A problem for each issue: its line, its path, and for an unknown name the one that may be meant. */
export function problemsOf(
  issues: readonly z.core.$ZodIssue[],
  document: Document.Parsed,
  lines: LineCounter,
): string[] {
  const lineOf = (offset: number | undefined) =>
    offset === undefined ? '' : `line ${lines.linePos(offset).line}: `;
  return issues.flatMap((issue) => {
    const { path } = issue;
    if (issue.code !== 'unrecognized_keys') {
      return [`${lineOf(startOf(document, path))}${path.join('.') || 'file'}: ${issue.message}`];
    }
    const known = namesAt(TeamFile, path);
    return issue.keys.map((key) => {
      const meant = known.length === 0 ? key : closest(key, known);
      const isNear = distance(key, meant) <= 2;
      const advice = isNear ? `did you mean ${meant}?` : `expected one of ${known.join(', ')}`;
      return `${lineOf(startOfKey(document, path, key))}${[...path, key].join('.')}: unknown name, ${advice}`;
    });
  });
}

function startOf(document: Document.Parsed, path: Path): number | undefined {
  const node = document.getIn(path, true);
  return isNode(node)
    ? node.range?.[0]
    : path.length === 0
      ? undefined
      : startOf(document, path.slice(0, -1));
}

function startOfKey(document: Document.Parsed, path: Path, key: string): number | undefined {
  const node = document.getIn(path, true);
  const keys = isMap(node) ? node.items.map((item) => item.key).filter(isScalar) : [];
  return keys.find(({ value }) => value === key)?.range?.[0];
}

/** The names that a schema accepts at a path. */
function namesAt(schema: unknown, path: Path): string[] {
  if (schema instanceof z.ZodOptional) return namesAt(schema.unwrap(), path);
  const [next, ...rest] = path;
  if (schema instanceof z.ZodArray) return namesAt(schema.element, rest);
  if (!(schema instanceof z.ZodObject)) return [];
  return next === undefined ? Object.keys(schema.shape) : namesAt(schema.shape[String(next)], rest);
}
