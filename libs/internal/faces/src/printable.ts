// Control and format characters, line separators and lone surrogates: everything that moves the cursor, or colours,
// hides or reorders text. Except the two joiners, which names and emoji need.
const UNPRINTABLE = /(?!\u200c|\u200d)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const UNPRINTABLE_BUT_LINES = /(?!\u200c|\u200d|\n|\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Text from a server, on one line: every character that could control a terminal becomes visible, as `\u{1b}`. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escapeCharacter);
}

/** The same for text of several lines: line feeds and tabs stay, CRLF becomes LF. */
export function printableLines(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(UNPRINTABLE_BUT_LINES, escapeCharacter);
}

/** JSON that is safe on a terminal: control characters that JSON.stringify keeps are escaped as in JSON. */
export function printableJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(UNPRINTABLE_BUT_LINES, (character) =>
    Array.from({ length: character.length }, (_, i) => `\\u${hex(character.charCodeAt(i), 4)}`).join(''),
  );
}

function escapeCharacter(character: string): string {
  return `\\u{${hex(character.codePointAt(0) ?? 0, 1)}}`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}
