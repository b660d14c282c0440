import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Judges the Markdown that git knows: its relative links lead somewhere, and the npm scripts it names exist. */
const tracked = execFileSync(
  'git',
  ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '*.md'],
  {
    encoding: 'utf8',
  },
);
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
const lifecycle = new Set(['ci', 'install', 'start', 'test']);

const complaints: string[] = [];
for (const file of tracked.split('\0').filter((name) => name !== '' && existsSync(name))) {
  const text = readFileSync(file, 'utf8');
  for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    const [path = '', anchor] = target.split('#');
    if (/^[a-z]+:/.test(target) || path.startsWith('/')) continue;
    const place = path === '' ? file : join(dirname(file), path);
    if (!existsSync(place)) complaints.push(`${file}: no file at ${target}`);
    else if (anchor !== undefined && !anchorsOf(place).has(anchor)) {
      complaints.push(`${file}: no heading for #${anchor} in ${place}`);
    }
  }
  for (const [, name = ''] of text.matchAll(/npm run (?:--silent )?([a-z:-]+)/g)) {
    if (scripts[name] === undefined && !lifecycle.has(name))
      complaints.push(`${file}: no npm script ${name}`);
  }
}

/** The anchors that a Markdown file's headings have, as code hosts make them. */
function anchorsOf(file: string): Set<string> {
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm);
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

if (complaints.length > 0) {
  console.error(complaints.join('\n'));
  process.exit(1);
}
