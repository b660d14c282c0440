import { execFileSync, spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';

/** Commands that a document shows, and what it says that they print. */
export interface Step {
  readonly commands: string;
  /** Undefined where the document shows no output. */
  readonly shown: string | undefined;
}

/** `UPDATE_README=1` writes what is printed now into the documents instead of comparing. */
export const UPDATES = process.env['UPDATE_README'] === '1';

/** Whether this machine has what the commands need besides Node; says so where it has not. */
export const canRunSteps = (() => {
  try {
    execFileSync('sh', ['-c', 'command -v script && command -v curl && command -v bash']);
    return true;
  } catch {
    process.stderr.write('readme: needs script, curl and bash, which are not all here: skipped\n');
    return false;
  }
})();

/** The folder of the checkout's `ori`, which the standalone names. */
const ORI_FOLDER = new URL('../../node_modules/.bin', import.meta.url).pathname;

const FENCE = /^```(sh|text)\n([\s\S]*?)^```$/gm;

/** The `sh` blocks of a section, each with the `text` block that follows it. */
export function stepsOf(markdown: string, heading: string): Step[] {
  const steps: { commands: string; shown: string | undefined }[] = [];
  for (const [, language, content = ''] of sectionOf(markdown, heading).matchAll(FENCE)) {
    const last = steps.at(-1);
    if (language === 'sh') steps.push({ commands: content, shown: undefined });
    else if (last !== undefined && last.shown === undefined) last.shown = content;
  }
  return steps;
}

function sectionOf(markdown: string, heading: string): string {
  const [, rest] = markdown.split(`\n## ${heading}\n`);
  if (rest === undefined) throw new Error(`no section "${heading}"`);
  return rest.split('\n## ')[0] ?? '';
}

/**
 * Runs the commands of each step, one after the other, in one bash on a terminal 80 columns wide without colours.
 * Resolves to what each printed, stdout and stderr as they came.
 */
async function runSteps(
  steps: readonly Step[],
  place: { readonly folder: string; readonly env: Readonly<Record<string, string | undefined>> },
): Promise<string[]> {
  const mark = (step: number) => `=== step ${step} ===`;
  const script = ['stty cols 80', 'set -o pipefail', `echo '${mark(0)}'`];
  for (const [step, { commands }] of steps.entries())
    script.push(commands.trimEnd(), `printf '\\n${mark(step + 1)}\\n'`);
  const file = join(place.folder, 'session.sh');
  await writeFile(file, script.join('\n'));
  const child = spawn('script', ['-qec', `bash '${file}'`, '/dev/null'], {
    cwd: place.folder,
    env: { NO_COLOR: '1', TERM: 'xterm', ...place.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) text += chunk;
  const lines = text.replace(/\r+\n/g, '\n');
  return steps.map((_step, at) => {
    const from = lines.indexOf(mark(at));
    const to = lines.indexOf(mark(at + 1));
    if (from < 0 || to < 0) throw new Error(`step ${at + 1} did not end:\n${lines.slice(Math.max(0, from))}`);
    const printed = lines.slice(from + mark(at).length + 1, to);
    return printed.replace(/\n+$/, printed.trim() === '' ? '' : '\n');
  });
}

/**
 * Runs the steps of a document's section against the standalone whose ports begin with `firstPort`, and demands that they
 * print what it shows; or writes that into it, with `UPDATE_README=1`.
 */
export async function expectShown(
  document: URL,
  section: string,
  { firstPort, ...place }: Parameters<typeof runSteps>[1] & { readonly firstPort: number },
): Promise<void> {
  const steps = stepsOf(await readFile(document, 'utf8'), section);
  const ours = steps.map((step) => ({ ...step, commands: withPorts(step.commands, 8080, firstPort) }));
  const printed = (await runSteps(ours, place)).map((text) => normalise(text, firstPort));
  if (UPDATES) return update(document, section, printed);
  expect(printed).toEqual(steps.map(({ shown }) => shown ?? ''));
}

/**
 * Writes what differs from run to run as the documents write it: the ports of the standalone as 8080, 8081 and 8082;
 * digests, the values of proof headers and other long values as `…`, as is the query of an address, and the folder of the checkout; times as
 * 2026-01-01T00:00:00Z. The line that names another port than 8080 is left out.
 */
export function normalise(text: string, firstPort: number): string {
  return withPorts(text, firstPort, 8080)
    .replace(/^ *export ORI_BASE_URL=.*\n/m, '')
    .replaceAll(ORI_FOLDER, '/…/node_modules/.bin')
    .replace(/(x-ori-invoke-(?!user)[\w-]+"?: ?(?:\["|")?)[^"[,\n]+/g, '$1…')
    .replace(/(nonce )[\w-]{22}/g, '$1…')
    .replace(/(root +)[\w-]{43}/g, '$1…')
    .replace(/\?[\w.-]+=\S+/g, '?…')
    .replace(/\b[0-9a-f]{64}\b/g, '…')
    .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '2026-01-01T00:00:00Z')
    .replace(/^date: .*GMT$/gm, 'date: Thu, 01 Jan 2026 00:00:00 GMT')
    .replace(/^(etag: ).*$/gm, '$1"…"')
    .replace(/valid for \d+ min/g, 'valid for 9 min');
}

/** Moves the three ports of a standalone that begin with `from` to those that begin with `to`. */
function withPorts(text: string, from: number, to: number): string {
  return text.replace(/\b127\.0\.0\.1:(\d+)/g, (whole, port) => {
    const distance = Number(port) - from;
    return distance >= 0 && distance <= 2 ? `127.0.0.1:${to + distance}` : whole;
  });
}

/** Puts what was printed into the document, where it shows output. */
export async function update(document: URL, heading: string, printed: readonly string[]): Promise<void> {
  const markdown = await readFile(document, 'utf8');
  const section = sectionOf(markdown, heading);
  let step = -1;
  const updated = section.replace(FENCE, (whole, language) => {
    if (language === 'sh') step += 1;
    return language === 'text' ? `\`\`\`text\n${printed[step]}\`\`\`` : whole;
  });
  await writeFile(
    document,
    markdown.replace(section, () => updated),
  );
}

/** Makes a program for `BROWSER` in the folder: its user is ada, who allows what is asked. Resolves to its path. */
export async function makeBrowser(folder: string): Promise<string> {
  const program = join(folder, 'browser.mjs');
  const person = new URL('../../services/standalone/src/person.ts', import.meta.url).href;
  await writeFile(
    program,
    `import { walkThrough } from '${person}';
     await fetch(await walkThrough(new URL(process.argv[2]), { user: 'ada' }));`,
  );
  const browser = join(folder, 'browser');
  await writeFile(browser, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$1"\n`, { mode: 0o755 });
  return browser;
}
