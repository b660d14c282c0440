import { readFileSync } from 'node:fs';
import { ROOT } from '../root.ts';

/** A command as a document has it, and where. */
export interface Command {
  readonly text: string;
  readonly where: string;
}

const PROGRAMS = /^(?:ori-admin|systemctl|journalctl|docker|kubectl|redis-cli|curl|sh|psql) \S/;

/**
 * The commands of a document below these headings, in its order: lines of code blocks, and code in the text that begins
 * with a program. Output and other files in code blocks are indented further, or begin with no word of a command.
 */
export function commandsOf(document: string, headings: readonly string[]): Command[] {
  const lines = readFileSync(`${ROOT}${document}`, 'utf8').split('\n');
  const found: Command[] = [];
  let heading = '';
  let prose = '';
  const flush = () => {
    // A span may go on in the next line.
    for (const [, span = ''] of prose.matchAll(/`([^`]+)`/g)) {
      const text = span.replaceAll(/\s+/g, ' ');
      if (PROGRAMS.test(text)) found.push({ text, where: `${document}#${heading}` });
    }
    prose = '';
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (/^#+ /.test(line)) {
      flush();
      heading = line.replace(/^#+ /, '');
    }
    if (
      !headings.some(
        (name) => name === heading || (name.endsWith('*') && heading.startsWith(name.slice(0, -1))),
      )
    )
      continue;
    if (!line.startsWith('    ')) {
      prose += `${line}\n`;
      continue;
    }
    flush();
    // Part of a file.
    if (/^ {4}(?:\s|\w+:)/.test(line)) continue;
    let text = line.slice(4);
    while (text.endsWith('\\')) text = `${text.slice(0, -1)} ${(lines[++at] ?? '').trim()}`;
    found.push({ text: text.replace(/\s+#\s.*$/, ''), where: `${document}#${heading}` });
  }
  flush();
  return found;
}
