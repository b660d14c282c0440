import { CliError } from '../../core/errors.ts';
import { endOfLua } from './lua.ts';

/** A piece of an nginx configuration. `line` counts from 1. */
export type Token =
  | { readonly kind: 'word'; readonly text: string; readonly line: number }
  | { readonly kind: 'comment'; readonly text: string; readonly line: number }
  | { readonly kind: '{' | '}' | ';'; readonly line: number };

export interface Lexer {
  /** The next token; undefined at the end of the text. */
  next(): Token | undefined;
  /** The text up to the brace that closes a Lua block, after its opening brace. */
  lua(): string;
}

const SPACE = /[ \t\r\n]/;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '\\': '\\',
  t: '\t',
  r: '\r',
  n: '\n',
};

/**
 * Tokenizes like nginx (ngx_conf_read_token): `#` and quotes count only at the start of a word, `;` and `{` end a word
 * anywhere except in `${`, and a backslash escapes the next character. `lua()` and `next()` throw CliError
 * `configuration_malformed`.
 */
export function createLexer(text: string, file: string): Lexer {
  let at = 0;
  let line = 1;

  const malformed = (why: string): CliError => new CliError('configuration_malformed', { file, line, why });
  const skip = (to: number): string => {
    const skipped = text.slice(at, to);
    for (const character of skipped) if (character === '\n') line += 1;
    at = to;
    return skipped;
  };

  function word(): Token {
    const start = line;
    let end = at;
    for (let inVariable = false; end < text.length; end += 1) {
      const character = text[end] ?? '';
      if (SPACE.test(character) || character === ';' || (character === '{' && !inVariable)) break;
      inVariable = character === '$';
      if (character === '\\') end += 1;
    }
    if (end >= text.length) {
      skip(text.length);
      throw malformed('the file ends within a directive; a ; is missing');
    }
    return { kind: 'word', text: unescaped(skip(end)), line: start };
  }

  function quoted(quote: string): Token {
    const start = line;
    let end = at + 1;
    while (end < text.length && text[end] !== quote) end += text[end] === '\\' ? 2 : 1;
    if (end >= text.length) throw malformed(`the quote ${quote} is not closed`);
    const inside = skip(end + 1).slice(1, -1);
    const after = text[at];
    if (after !== undefined && !SPACE.test(after) && !';{)'.includes(after)) {
      throw malformed(`a space is missing after the quote ${quote}`);
    }
    return { kind: 'word', text: unescaped(inside), line: start };
  }

  return {
    next() {
      while (at < text.length && SPACE.test(text[at] ?? '')) skip(at + 1);
      const character = text[at];
      if (character === undefined) return undefined;
      if (character === '{' || character === '}' || character === ';') {
        at += 1;
        return { kind: character, line };
      }
      if (character === '"' || character === "'") return quoted(character);
      if (character !== '#') return word();
      const start = line;
      const end = text.indexOf('\n', at);
      return { kind: 'comment', text: skip(end === -1 ? text.length : end), line: start };
    },
    lua() {
      const end = endOfLua(text, at);
      if (end === undefined) throw malformed('the Lua block is not closed');
      const code = skip(end);
      at += 1;
      return code;
    },
  };
}

function unescaped(text: string): string {
  return text.replace(/\\(["'\\trn])/g, (_, character: string) => ESCAPES[character] ?? character);
}
