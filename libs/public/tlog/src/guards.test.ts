import { createSigningKey } from '@ori/proof/signing';
import { describe, expect, it } from 'vitest';
import { renderCheckpoint } from './checkpoint.ts';
import { cosign, cosignerKey } from './cosignature.ts';
import { NOTE_TYPES, noteKey, parseNote, renderNote, renderVkey, signNote } from './note.ts';
import { parsePolicy, requireTrusted } from './policy.ts';
import { parseTlogProof } from './tlog-proof.ts';

const ORIGIN = 'log.example/log';
const keyOf = (fill: number) => createSigningKey(Buffer.alloc(32, fill));
const logVkey = renderVkey(noteKey(ORIGIN, NOTE_TYPES.ed25519, keyOf(9).publicKey));
const witnessVkey = (name: string, fill: number) => renderVkey(cosignerKey(name, keyOf(fill)));
const text = renderCheckpoint({ origin: ORIGIN, size: 7, root: Buffer.alloc(32, 9) });
const malformed = expect.objectContaining({ code: 'malformed' });

it('a forged cosignature by a known witness does not count, and makes the checkpoint invalid', () => {
  const policy = parsePolicy(`log ${logVkey}\nwitness w1 ${witnessVkey('w1', 1)}\nquorum w1`);
  const good = cosign(text, 5, 'w1', keyOf(1));
  const forged = { ...good, bytes: cosign(text, 5, 'w1', keyOf(2)).bytes };
  const noteWith = (one: typeof good) =>
    renderNote({ text, signatures: [signNote(text, ORIGIN, keyOf(9)), one] });
  expect(requireTrusted(noteWith(good), policy).witnessed).toEqual(new Map([['w1', 5]]));
  for (const bytes of [forged.bytes, good.bytes.subarray(0, 71), Buffer.alloc(72)]) {
    expect(() => requireTrusted(noteWith({ ...good, bytes }), policy)).toThrow(
      expect.objectContaining({ code: 'signature_invalid' }),
    );
  }
});

it('a signature by a log of the policy counts only for a checkpoint of its own origin', () => {
  const other = renderCheckpoint({ origin: 'log.example/other', size: 7, root: Buffer.alloc(32, 9) });
  const note = renderNote({ text: other, signatures: [signNote(other, ORIGIN, keyOf(9))] });
  expect(() => requireTrusted(note, parsePolicy(`log ${logVkey}\nquorum none`))).toThrow(
    expect.objectContaining({ code: 'signature_invalid' }),
  );
});

describe('a policy file', () => {
  const w1 = witnessVkey('w1', 1);
  it.each([
    ['one key of two witnesses', `witness a ${w1}\nwitness b ${witnessVkey('w2', 1)}\nquorum none`],
    ['one key of two logs', `log ${logVkey}\nlog ${logVkey}\nquorum none`],
    ['a key of a log as a witness', `witness a ${logVkey}\nquorum none`],
    ['a key of a witness as a log', `log ${w1}\nquorum none`],
    ['one name twice', `witness a ${w1}\nwitness a ${witnessVkey('w2', 2)}\nquorum none`],
    ['the name none', `witness none ${w1}\nquorum none`],
    ['a witness without a key', 'witness a\nquorum none'],
    ['a word too many', `log ${logVkey} https://log.example more\nquorum none`],
    ['a member of two groups', `witness a ${w1}\ngroup g any a\ngroup h any a\nquorum none`],
    ['none as a member', 'group g any none\nquorum none'],
    ['an empty group', 'group g all\nquorum none'],
    ['a threshold of 0', `witness a ${w1}\ngroup g 0 a\nquorum none`],
    ['a threshold above its members', `witness a ${w1}\ngroup g 2 a\nquorum none`],
    ['a fraction as a threshold', `witness a ${w1}\ngroup g 0.5 a\nquorum none`],
    ['two names of a quorum', `witness a ${w1}\nquorum a none`],
    ['no quorum', `log ${logVkey}`],
  ])('is refused for %s', (_what, lines) => {
    expect(() => parsePolicy(lines)).toThrow(malformed);
  });
  it('may have comments, empty lines, tabs, and groups of all and any', () => {
    const { isQuorum } = parsePolicy(
      `# one\n\n\twitness  a\t${w1}\nwitness b ${witnessVkey('w2', 2)}\nwitness c ${witnessVkey('w3', 3)}
       group g any a b\ngroup h all g c\nquorum h`,
    );
    expect([['a', 'c'], ['b', 'c'], ['a', 'b'], ['c']].map((names) => isQuorum(new Set(names)))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

describe('a note', () => {
  const line = '— name AAAAAAA=';
  it('may have a text of several paragraphs', () => {
    expect(parseNote(`a\n\nb\n\n${line}\n`)).toMatchObject({
      text: 'a\n\nb\n',
      signatures: [{ name: 'name' }],
    });
  });
  it.each([
    ['no signature', 'text\n\n'],
    ['no empty line', `text\n${line}\n`],
    ['no newline at its end', `text\n\n${line}`],
    ['a control character', `te\x01xt\n\n${line}\n`],
    ['a carriage return', `text\r\n\n${line}\n`],
    ['a hyphen instead of a dash', 'text\n\n- name AAAAAAA=\n'],
    ['a signature of 4 bytes', 'text\n\n— name AAAAAA==\n'],
    ['base64 that is not canonical', 'text\n\n— name AAAAAAB=\n'],
    ['a name with a plus', 'text\n\n— na+me AAAAAAA=\n'],
    ['101 signatures', `text\n\n${`${line}\n`.repeat(101)}`],
    ['more than a million characters', `${'x'.repeat(1_000_000)}\n\n${line}\n`],
  ])('is refused for %s', (_what, note) => {
    expect(() => parseNote(note)).toThrow(malformed);
  });
  it('may have 100 signatures', () => {
    expect(parseNote(`text\n\n${`${line}\n`.repeat(100)}`).signatures).toHaveLength(100);
  });
});

it.each([
  'c2sp.org/tlog-proof@v2\nindex 1\n\nnote',
  'c2sp.org/tlog-proof@v1\nextra A\nindex 1\n\nnote',
  'c2sp.org/tlog-proof@v1\nindex 01\n\nnote',
  'c2sp.org/tlog-proof@v1\n\nnote',
  'c2sp.org/tlog-proof@v1\nindex 1\nAAAA\n\nnote',
  `c2sp.org/tlog-proof@v1\nindex 1\n${`${Buffer.alloc(32).toString('base64')}\n`.repeat(64)}\nnote`,
])('%j is not a .tlog-proof', (file) => {
  expect(() => parseTlogProof(file)).toThrow(malformed);
});
