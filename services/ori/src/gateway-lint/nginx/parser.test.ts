import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isCliError } from '../../core/errors.ts';
import { type Directive, parseConfiguration } from './parser.ts';

type Shape = [name: string, ...(string | Shape[])[]];

function shapeOf({ name, args, block, code }: Directive): Shape {
  return [
    name,
    ...args,
    ...(block === undefined ? [] : [block.map(shapeOf)]),
    ...(code === undefined ? [] : [code]),
  ];
}
const parse = (text: string) => parseConfiguration(text, 'a.conf');
const shapes = (text: string) => parse(text).map(shapeOf);

it.each<[string, string, Shape[]]>([
  ['words up to a semicolon', 'a b  c;d;', [['a', 'b', 'c'], ['d']]],
  ['blocks in blocks', 'a { b c { d; } } e;', [['a', [['b', 'c', [['d']]]]], ['e']]],
  ['a brace right behind a word', 'location /a{b;}', [['location', '/a', [['b']]]]],
  ['an empty block', 'events {}', [['events', []]]],
  ['quotes with what would end a word', `a "b; { } # c" 'd "e"';`, [['a', 'b; { } # c', 'd "e"']]],
  ['a quote within a word as part of it', `a b"c'd;`, [['a', `b"c'd`]]],
  ['escaped quotes', String.raw`a "b\"c" 'd\'e' f\"g;`, [['a', 'b"c', "d'e", 'f"g']]],
  [
    'escapes that nginx knows, and others unchanged',
    String.raw`a \t \d\. \\;`,
    [['a', '\t', String.raw`\d\.`, '\\']],
  ],
  ['an escaped end of a word', String.raw`a b\;c\ d;`, [['a', String.raw`b\;c\ d`]]],
  ['a variable in braces', `a $\{b}c $d{e;}`, [['a', `$\{b}c`, '$d', [['e']]]]],
  ['a closing brace within a word as part of it', 'a b};', [['a', 'b}']]],
  ['a hash within a word as part of it', 'a b#c;', [['a', 'b#c']]],
  ['comments anywhere between words', '# x\na # y { " \n b; # z', [['a', 'b']]],
  [
    'a condition whose quote ends at its parenthesis',
    'if ($a = "b c") { d; }',
    [['if', '($a', '=', 'b c', ')', [['d']]]],
  ],
  ['a quoted name', '"a b" c;', [['a b', 'c']]],
  ['an empty argument', 'a "";', [['a', '']]],
  ['a quote over lines', 'a "b\nc";', [['a', 'b\nc']]],
  ['line ends of Windows', 'a b;\r\nc;\r\n', [['a', 'b'], ['c']]],
  ['nothing', ' \n# only a comment', []],
])('reads %s', (_what, text, expected) => {
  expect(shapes(text)).toEqual(expected);
});

it.each([
  ['braces', '{ local t = { 1, { 2 } } }'],
  ['strings that contain braces', `{ a = "}" .. '{' .. "\\"}" }`],
  ['long strings', '{ a = [[ } ]] .. [==[ ]] } ]==] }'],
  ['comments', '{ -- }\n --[[ }\n } ]] a() }'],
  ['quotes in comments', `{ -- don't\n a() }`],
])('finds the end of a Lua block past %s', (_what, block) => {
  const code = block.slice(1, -1);
  expect(shapes(`access_by_lua_block ${block} b c;`)).toEqual([
    ['access_by_lua_block', code],
    ['b', 'c'],
  ]);
});

it('reports the line on which a directive begins', () => {
  const text = 'a {\n  b\n   c;\n\n  d "x\ny"; e;\n}\nf_by_lua_block {\n\n}\ng;';
  const [a, f, g] = parse(text);
  expect([a?.line, f?.line, g?.line]).toEqual([1, 8, 11]);
  expect(a?.block?.map(({ name, line }) => [name, line])).toEqual([
    ['b', 2],
    ['d', 5],
    ['e', 6],
  ]);
});

it.each([
  ['a;\n}', 2, 'closes nothing'],
  ['a;\n;', 2, 'where a directive should begin'],
  ['a;\n{ b; }', 2, 'where a directive should begin'],
  ['a {\n b;\n', 1, 'block of "a" is not closed'],
  ['a {\n b }', 2, '; is missing'],
  ['a;\nb', 2, '; is missing'],
  ['a;\n"b" ', 2, '; is missing'],
  ['a;\nb "c;\n', 2, 'is not closed'],
  [`a 'b'c;`, 1, 'space is missing'],
  ['a_by_lua_block {\n "}" ', 1, 'Lua block is not closed'],
  ['\ufeffa;', 1, 'byte order mark'],
  ['a\\', 1, '; is missing'],
  ['a {'.repeat(65), 1, 'more than 64 deep'],
])('refuses %j with its line number', (text, line, why) => {
  const facts = expect.objectContaining({ line, why: expect.stringContaining(why) });
  const refusal = expect.objectContaining({ code: 'configuration_malformed', facts });
  expect(() => parse(text)).toThrow(refusal);
});

it('reads allowances from the line above and from the line itself, only with a reason', () => {
  const [a, b, c, d, e] = parse(
    [
      '# ori-doctor: allow path-unknown, because the map is elsewhere',
      'a;',
      'b; # ori-doctor: allow retried: idempotent here',
      '# ori-doctor: allow retried',
      'c;',
      'd {   # ori-doctor: allow sent-twice, twice is fine',
      '  # ori-doctor: allow retried, lost with the block',
      '}',
      'e;',
    ].join('\n'),
  );
  expect([a, b, c, d, e].map((directive) => directive?.allows)).toEqual([
    ['path-unknown'],
    ['retried'],
    [],
    ['sent-twice'],
    [],
  ]);
});

const piece = fc.oneof(
  fc.constantFrom(
    '{',
    '}',
    ';',
    ' ',
    '\n',
    '#',
    '"',
    "'",
    '\\',
    '$',
    `$\{`,
    ')',
    'a',
    'http',
    'x_by_lua_block ',
    '--[[',
    ']]',
  ),
  fc.string({ unit: 'binary', maxLength: 3 }),
);

it('terminates on any text, with directives or with a line number of the text', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const text = pieces.join('');
      try {
        parse(text);
      } catch (error) {
        if (!isCliError(error, 'configuration_malformed')) throw error;
        expect(error.facts.line).toBeGreaterThanOrEqual(1);
        expect(error.facts.line).toBeLessThanOrEqual(text.split('\n').length);
      }
    }),
    { numRuns: 2000 },
  );
});

const word = fc.string({ unit: 'grapheme-ascii', maxLength: 8 });
const tree = fc.letrec<{ directives: Shape[] }>((tie) => ({
  directives: fc.array(
    fc
      .tuple(
        fc.stringMatching(/^[a-z]{1,6}$/),
        fc.array(word, { maxLength: 3 }),
        fc.option(tie('directives'), { nil: undefined, maxDepth: 3, depthIdentifier: 'blocks' }),
      )
      .map(([name, args, block]): Shape => [name, ...args, ...(block === undefined ? [] : [block])]),
    { maxLength: 4 },
  ),
})).directives;

function write(directives: readonly Shape[]): string {
  return directives
    .map((parts) => {
      const words = parts.map((part) => (typeof part === 'string' ? quote(part) : `{\n${write(part)}}`));
      return `${words.join(' ')}${typeof parts.at(-1) === 'string' ? ';' : ''} # }\n`;
    })
    .join('');
}

function quote(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

it('reads back everything that was written with quotes', () => {
  fc.assert(
    fc.property(tree, (directives) => {
      expect(shapes(write(directives))).toEqual(directives);
    }),
  );
});
