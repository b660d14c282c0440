import { expect, it } from 'vitest';
import { printable, printableJson, printableLines } from './printable.ts';

const HOSTILE = [
  '\u001b[2J\u001b[H', // clears a screen
  '\u009b31m', // the same in one character
  '\u0007\b\u007f\r',
  '\u202egpj.exe', // reads backwards
  '\u2066\u2028\u2029\ufeff\u00ad',
  '\u{e0041}', // a tag: invisible
  '\ud800', // half a character
];

it('escapes every character that controls a terminal, is invisible or reorders text', () => {
  for (const text of HOSTILE) {
    for (const shown of [printable(text), printableLines(text), printableJson(text)]) {
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
    }
  }
  expect(printable('a\u001b[31mb')).toBe('a\\u{1b}[31mb');
});

it('keeps readable text of any language', () => {
  for (const text of ['Grüße, 世界', 'שלום', 'नमस्‍ते', '👩‍💻 done']) {
    expect(printable(text)).toBe(text);
    expect(printableJson(text)).toBe(JSON.stringify(text));
  }
});

it('keeps line feeds and tabs only in text of several lines', () => {
  expect(printableLines('a\r\n\tb\n')).toBe('a\n\tb\n');
  expect(printable('a\nb\tc')).toBe('a\\u{a}b\\u{9}c');
});

it('writes JSON with the same value', () => {
  const value = { text: HOSTILE.slice(0, -1).join(' ') };
  expect(JSON.parse(printableJson(value, 2))).toEqual(value);
});
