import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const LINES_WITHOUT_CONTENTS = 150;
const COLUMNS_MAX = 120;
const PARAGRAPH_LINES_MAX = 5;
/** npm commands that are not scripts of package.json. */
const LIFECYCLE = new Set(['ci', 'install', 'start', 'test']);

/**
 * The faults of a Markdown file: a broken relative link or anchor, an npm script that does not exist,
 * prose beyond 120 columns, a paragraph or list item of more than five lines, and, above 150 lines, a section that no
 * link before the first section leads to.
 */
export function judgeDocument(file: string, scripts: ReadonlySet<string>): string[] {
  const text = readFileSync(file, 'utf8');
  const problems: string[] = [];
  for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    const [path = '', anchor] = target.split('#');
    if (/^[a-z]+:/.test(target) || path.startsWith('/')) continue;
    const place = path === '' ? file : join(dirname(file), path);
    if (!existsSync(place)) problems.push(`${file}: no file at ${target}`);
    else if (anchor !== undefined && !anchorsOf(readFileSync(place, 'utf8')).has(anchor))
      problems.push(`${file}: no heading for #${anchor} in ${place}`);
  }
  for (const [, name = ''] of text.matchAll(/npm run (?:--silent )?([a-z:-]+)/g)) {
    if (!scripts.has(name) && !LIFECYCLE.has(name)) problems.push(`${file}: no npm script ${name}`);
  }
  for (const [number, length] of longLines(text))
    problems.push(`${file}:${number}: ${length} columns, expected at most ${COLUMNS_MAX}`);
  for (const [number, lines] of longParagraphs(text))
    problems.push(
      `${file}:${number}: a paragraph of ${lines} lines, expected at most ${PARAGRAPH_LINES_MAX}`,
    );
  for (const heading of unlistedSections(text))
    problems.push(`${file}: over ${LINES_WITHOUT_CONTENTS} lines, and its contents omit "${heading}"`);
  return problems;
}

/**
 * The faults of the table of entries in a package's README, if it has one: a row for each of the package's exports, and
 * no other.
 *
 * @param name of the package; an entry is written `./entry` or with the name
 */
export function judgeEntries(readme: string, name: string, exported: readonly string[]): string[] {
  const [, rows] = /^\| *Entry *\|.*\n\|[-| ]+\n((?:\|.*\n)+)/m.exec(readme) ?? [];
  if (rows === undefined) return [];
  const cells = rows.split('\n').map((row) => row.split('|')[1] ?? '');
  const listed = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, entry = '']) => entry));
  const entries = new Set(
    listed.map((entry) => (entry.startsWith(name) ? `.${entry.slice(name.length)}` : entry)),
  );
  return [
    ...exported.filter((entry) => !entries.has(entry)).map((entry) => `the table of entries omits ${entry}`),
    ...[...entries].filter((entry) => !exported.includes(entry)).map((entry) => `there is no entry ${entry}`),
  ];
}

/** Number and length of each overlong line of prose. Code and tables cannot be wrapped. */
function longLines(text: string): [number, number][] {
  return proseLines(text).flatMap(([number, line]) => {
    const { length } = line.replace(/`[^`]*`/g, '``');
    return length > COLUMNS_MAX ? [[number, length]] : [];
  });
}

/** First line and length of each overlong paragraph or list item, except in a table of contents. */
function longParagraphs(text: string): [number, number][] {
  const paragraphs: [number, string[]][] = [];
  let previous = 0;
  for (const [number, line] of proseLines(text)) {
    const current = paragraphs.at(-1);
    if (current !== undefined && number === previous + 1 && !/^\s*(?:[-*]|\d+\.) /.test(line))
      current[1].push(line);
    else paragraphs.push([number, [line]]);
    previous = number;
  }
  return paragraphs.flatMap(([number, lines]) => {
    const isContents = lines[0]?.startsWith('[') && lines[0].includes(' · ');
    return lines.length > PARAGRAPH_LINES_MAX && !isContents ? [[number, lines.length]] : [];
  });
}

/** The lines that are neither empty nor a heading, a table, a comment or code, with their numbers. */
function proseLines(text: string): [number, string][] {
  let inCode = false;
  return text.split('\n').flatMap((line, index) => {
    if (/^\s*```/.test(line)) {
      inCode = !inCode;
      return [];
    }
    const isProse = !inCode && line.trim() !== '' && !/^(?:#|<| {4}|\s*\|)/.test(line);
    return isProse ? [[index + 1, line]] : [];
  });
}

/** The second-level headings of a long document that its table of contents does not link to. A changelog needs none. */
function unlistedSections(text: string): string[] {
  if (text.split('\n').length <= LINES_WITHOUT_CONTENTS || text.startsWith('# Changelog')) return [];
  const body = withoutCode(text);
  const contents = body.slice(0, body.search(/^## /m));
  return [...body.matchAll(/^## (.*)$/gm)]
    .map(([, heading = '']) => heading)
    .filter((heading) => !contents.includes(`(#${anchorOf(heading)})`));
}

function anchorsOf(text: string): Set<string> {
  return new Set([...withoutCode(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading)));
}

/** The anchor that GitHub generates for a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '');
}
