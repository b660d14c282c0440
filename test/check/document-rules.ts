import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const LINES_WITHOUT_CONTENTS = 150;
/** npm commands that are not scripts of package.json. */
const LIFECYCLE = new Set(['ci', 'install', 'start', 'test']);

/**
 * What is wrong with a Markdown file: a relative link or an anchor that leads nowhere, an npm script that does not exist,
 * and, above 150 lines, a section that no link before the first section leads to.
 */
export function judgeDocument(file: string, scripts: ReadonlySet<string>): string[] {
  const text = readFileSync(file, 'utf8');
  const complaints: string[] = [];
  for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    const [path = '', anchor] = target.split('#');
    if (/^[a-z]+:/.test(target) || path.startsWith('/')) continue;
    const place = path === '' ? file : join(dirname(file), path);
    if (!existsSync(place)) complaints.push(`${file}: no file at ${target}`);
    else if (anchor !== undefined && !anchorsOf(readFileSync(place, 'utf8')).has(anchor))
      complaints.push(`${file}: no heading for #${anchor} in ${place}`);
  }
  for (const [, name = ''] of text.matchAll(/npm run (?:--silent )?([a-z:-]+)/g)) {
    if (!scripts.has(name) && !LIFECYCLE.has(name)) complaints.push(`${file}: no npm script ${name}`);
  }
  for (const heading of unlistedSections(text))
    complaints.push(`${file}: over ${LINES_WITHOUT_CONTENTS} lines, and its contents omit "${heading}"`);
  return complaints;
}

/** The second-level headings of a long document that its list of contents does not link to. A changelog needs none. */
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

/** The anchor of a heading, as GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '');
}
