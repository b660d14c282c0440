// Control and format characters, line separators and lone surrogates: all that moves a cursor, colours, hides
// or reorders text. The two joiners stay, because names and emoji need them.
const UNPRINTABLE = /(?!\u200c|\u200d)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const UNPRINTABLE_BUT_LINES = /(?!\u200c|\u200d|\n|\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Text from a server, on one line: whatever could steer a terminal becomes visible, as `\u{1b}`. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escapeCharacter);
}

/** The same for text of several lines: line feeds and tabs stay, CRLF becomes LF. */
export function printableLines(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(UNPRINTABLE_BUT_LINES, escapeCharacter);
}

/** JSON that is safe on a terminal too: what JSON.stringify leaves bare is escaped the JSON way. */
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
