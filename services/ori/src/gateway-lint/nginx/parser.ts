import { CliError } from '../../core/errors.ts';
import { createLexer, type Token } from './lexer.ts';

export interface Directive {
  readonly name: string;
  readonly args: readonly string[];
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly block?: readonly Directive[];
  /** The code of a Lua block, instead of `block`. */
  readonly code?: string;
  /** Rules that a comment at the directive allows: `# ori-doctor: allow RULE, because …`. */
  readonly allows: readonly string[];
}

/** Blocks within blocks; nginx itself needs no more than six. */
const DEPTH_MAX = 64;
const ALLOW = /^#+\s*ori-doctor:\s*allow\s+([a-z-]+)[,:;]?\s+\S/;

interface Open {
  readonly name: string;
  readonly args: readonly string[];
  readonly line: number;
  readonly allows: string[];
  readonly block: Directive[];
}

/**
 * The directives of one configuration file, as nginx reads them, without interpreting them. Throws CliError
 * `configuration_malformed` with the line.
 */
export function parseConfiguration(text: string, file: string): Directive[] {
  const lexer = createLexer(text, file);
  const root: Directive[] = [];
  const open: Open[] = [];
  let words: { text: string; line: number }[] = [];
  let allows: string[] = [];
  /** The allowances of the directive that last ended or opened its block: a comment after it applies to it. */
  let last: { readonly line: number; readonly allows: string[] } | undefined;

  const malformed = (line: number, why: string): CliError =>
    new CliError('configuration_malformed', { file, line, why });
  const head = (token: Token) => {
    const [name, ...args] = words;
    if (name === undefined) throw malformed(token.line, `"${token.kind}" where a directive should begin`);
    last = { line: token.line, allows };
    const found = { name: name.text, args: args.map((word) => word.text), line: name.line, allows };
    words = [];
    allows = [];
    return found;
  };
  const add = (directive: Directive): void => void (open.at(-1)?.block ?? root).push(directive);

  if (text.startsWith('\ufeff'))
    throw malformed(1, 'it begins with a byte order mark, which nginx does not read');
  let line = 1;
  for (let token = lexer.next(); token !== undefined; token = lexer.next()) {
    line = token.line;
    if (token.kind === 'word') words.push(token);
    else if (token.kind === 'comment') {
      const rule = ALLOW.exec(token.text)?.[1];
      if (rule !== undefined) (last?.line === token.line ? last.allows : allows).push(rule);
    } else if (token.kind === ';') add({ ...head(token), file });
    else if (token.kind === '{') {
      const found = head(token);
      if (found.name.endsWith('_by_lua_block')) add({ ...found, file, code: lexer.lua() });
      else if (open.length === DEPTH_MAX)
        throw malformed(line, `blocks are nested more than ${DEPTH_MAX} deep`);
      else open.push({ ...found, block: [] });
    } else {
      if (words.length > 0) throw malformed(line, 'a ; is missing before "}"');
      const closed = open.pop();
      if (closed === undefined) throw malformed(line, '"}" closes nothing');
      allows = [];
      add({ ...closed, file });
    }
  }
  if (words.length > 0) throw malformed(line, 'the file ends within a directive; a ; is missing');
  const unclosed = open.at(-1);
  if (unclosed !== undefined) throw malformed(unclosed.line, `the block of "${unclosed.name}" is not closed`);
  return root;
}
