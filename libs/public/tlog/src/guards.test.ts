import { createSigningKey } from '@ori/proof/signing';
import { describe, expect, it } from 'vitest';
import { renderCheckpoint } from './checkpoint.ts';
import { cosign, cosignerKey } from './cosignature.ts';
import { leafHash, sha256 } from './merkle.ts';
import { NOTE_TYPES, noteKey, parseNote, parseVkey, renderNote, renderVkey, signNote } from './note.ts';
import { parsePolicy, requireTrusted } from './policy.ts';
import { parseTlogProof, renderTlogProof, verifyTlogProof } from './tlog-proof.ts';

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

it('a forged signature by a known log makes the checkpoint invalid, although another log has signed it', () => {
  const other = renderVkey(noteKey(ORIGIN, NOTE_TYPES.ed25519, keyOf(8).publicKey));
  const policy = parsePolicy(`log ${logVkey}\nlog ${other}\nquorum none`);
  const [good, forged] = [signNote(text, ORIGIN, keyOf(9)), signNote(text, ORIGIN, keyOf(8))];
  const noteWith = (bytes: Uint8Array) => renderNote({ text, signatures: [good, { ...forged, bytes }] });
  expect(requireTrusted(noteWith(forged.bytes), policy)).toMatchObject({ origin: ORIGIN, size: 7 });
  for (const bytes of [good.bytes, forged.bytes.subarray(0, 63), Buffer.alloc(64)]) {
    expect(() => requireTrusted(noteWith(bytes), policy)).toThrow(
      expect.objectContaining({ code: 'signature_invalid' }),
    );
  }
});

it.each([{ name: 'log.example/other' }, { id: '00000000' }])(
  'a signature with the name or the id of another key counts for no key: %j',
  (other) => {
    const note = renderNote({ text, signatures: [{ ...signNote(text, ORIGIN, keyOf(9)), ...other }] });
    expect(() => requireTrusted(note, parsePolicy(`log ${logVkey}\nquorum none`))).toThrow(
      expect.objectContaining({ code: 'signature_invalid' }),
    );
  },
);

it('a signature by a log of the policy counts only for a checkpoint of its own origin', () => {
  const other = renderCheckpoint({ origin: 'log.example/other', size: 7, root: Buffer.alloc(32, 9) });
  const note = renderNote({ text: other, signatures: [signNote(other, ORIGIN, keyOf(9))] });
  expect(() => requireTrusted(note, parsePolicy(`log ${logVkey}\nquorum none`))).toThrow(
    expect.objectContaining({ code: 'signature_invalid' }),
  );
});

describe('a policy file', () => {
  const w1 = witnessVkey('w1', 1);
  const w2 = witnessVkey('w2', 2);
  it.each([
    ['one key of two witnesses', `witness a ${w1}\nwitness b ${witnessVkey('w2', 1)}\nquorum none`],
    ['one key of two logs', `log ${logVkey}\nlog ${logVkey}\nquorum none`],
    ['a key of a log as a witness', `witness a ${logVkey}\nquorum none`],
    ['a key of a witness as a log', `log ${w1}\nquorum none`],
    ['one name twice', `witness a ${w1}\nwitness a ${w2}\nquorum none`],
    ['the name none', `witness none ${w1}\nquorum none`],
    ['a witness without a key', 'witness a\nquorum none'],
    ['a word too many of a log', `log ${logVkey} https://log.example more\nquorum none`],
    ['a word too many of a witness', `witness a ${w1} https://w.example more\nquorum none`],
    ['a log without a key', 'log\nquorum none'],
    ['a witness without a name', 'witness\nquorum none'],
    ['a group without a name', 'group\nquorum none'],
    ['a group of a stranger', `witness a ${w1}\ngroup g any a b\nquorum none`],
    ['an unknown keyword', `log ${logVkey}\nwitnesses a ${w1}\nquorum none`],
    ['a member of two groups', `witness a ${w1}\ngroup g any a\ngroup h any a\nquorum none`],
    ['none as a member', 'group g any none\nquorum none'],
    ['an empty group', 'group g all\nquorum none'],
    ['a threshold of 0', `witness a ${w1}\ngroup g 0 a\nquorum none`],
    ['a threshold above its members', `witness a ${w1}\ngroup g 2 a\nquorum none`],
    ['a fraction as a threshold', `witness a ${w1}\nwitness b ${w2}\ngroup g 1.5 a b\nquorum none`],
    ['a threshold with an exponent', `witness a ${w1}\ngroup g 1e0 a\nquorum none`],
    ['a hexadecimal threshold', `witness a ${w1}\ngroup g 0x1 a\nquorum none`],
    ['a word as a threshold', `witness a ${w1}\ngroup g most a\nquorum none`],
    ['two names of a quorum', `witness a ${w1}\nquorum a none`],
    ['no quorum', `log ${logVkey}`],
  ])('is refused for %s', (_what, lines) => {
    expect(() => parsePolicy(lines)).toThrow(malformed);
  });
  it('is refused with the number of the line', () => {
    expect(() => parsePolicy(`# one\n\nlog x\nquorum none`)).toThrow(/\b3\b/);
  });
  it('has the addresses of logs and witnesses, where it gives them', () => {
    const lines = [
      `log ${logVkey} https://l.example`,
      `witness a ${w1} https://a.example`,
      `witness b ${w2}`,
    ];
    const { logs, witnesses } = parsePolicy([...lines, 'quorum none'].join('\n'));
    const urls = [...logs, ...witnesses.values()].map(({ url }) => url);
    expect(urls).toEqual(['https://l.example', 'https://a.example', undefined]);
  });
  it('may have comments, empty lines, tabs, and groups of all and any', () => {
    const { isQuorum } = parsePolicy(
      `#one\n\n\twitness  a\t${w1}\nwitness b ${w2}\nwitness c ${witnessVkey('w3', 3)}
       group g any a b\ngroup h all g c\nquorum h`,
    );
    expect([['a', 'c'], ['b', 'c'], ['a', 'b'], ['c']].map((names) => isQuorum(new Set(names)))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
  it('may demand ten of its witnesses', () => {
    const names = Array.from({ length: 11 }, (_, index) => `w${index}`);
    const witnesses = names.map((name, index) => `witness ${name} ${witnessVkey(name, 20 + index)}`);
    const { isQuorum } = parsePolicy([...witnesses, `group g 10 ${names.join(' ')}`, 'quorum g'].join('\n'));
    expect([9, 10].map((count) => isQuorum(new Set(names.slice(0, count))))).toEqual([false, true]);
  });
});

describe('a note', () => {
  const line = '— name AAAAAAA=';
  const long = (length: number) => `\n\n${line}\n`.padStart(length, 'x');
  it('may have an empty text, and a million characters', () => {
    expect(parseNote(`\n\n${line}\n`).text).toBe('\n');
    expect(parseNote(long(1_000_000)).signatures).toHaveLength(1);
  });
  it('may have a text of several paragraphs', () => {
    expect(parseNote(`a\n\nb\n\n${line}\n`)).toMatchObject({
      text: 'a\n\nb\n',
      signatures: [{ name: 'name' }],
    });
  });
  it.each([
    ['no signature', 'text\n\n'],
    ['no empty line', `text\n${line}\n`],
    ['no newline before its signature', `x${line}\n`],
    ['no newline at its end', `text\n\n${line}`],
    ['a control character', `te\x01xt\n\n${line}\n`],
    ['a carriage return', `text\r\n\n${line}\n`],
    ['a hyphen instead of a dash', 'text\n\n- name AAAAAAA=\n'],
    ['something before a signature', `text\n\nx${line}\n`],
    ['something after a signature', `text\n\n${line} x\n`],
    ['a signature of 4 bytes', 'text\n\n— name AAAAAA==\n'],
    ['base64 that is not canonical', 'text\n\n— name AAAAAAB=\n'],
    ['a name with a plus', 'text\n\n— na+me AAAAAAA=\n'],
    ['101 signatures', `text\n\n${`${line}\n`.repeat(101)}`],
    ['more than a million characters', long(1_000_001)],
  ])('is refused for %s', (_what, note) => {
    expect(() => parseNote(note)).toThrow(malformed);
  });
  it('may have 100 signatures', () => {
    expect(parseNote(`text\n\n${`${line}\n`.repeat(100)}`).signatures).toHaveLength(100);
  });
});

it.each(['', 'a b', 'a+b', 'a\u0085', 'a\x01', ' a', 'a\n'])('%j is no name of a key', (name) => {
  expect(() => noteKey(name, NOTE_TYPES.ed25519, keyOf(1).publicKey)).toThrow(malformed);
});

describe('a verifier key', () => {
  const publicKey = Buffer.from(keyOf(1).publicKey);
  const vkeyOf = (type: number, key: Uint8Array, name = 'w1') => {
    const hash = sha256(Buffer.concat([Buffer.from(`${name}\n`), Uint8Array.of(type), key]));
    const id = Buffer.from(hash).toString('hex').slice(0, 8);
    return `${name}+${id}+${Buffer.concat([Uint8Array.of(type), key]).toString('base64')}`;
  };
  it('is of type 1 or 4, with 32 bytes', () => {
    for (const type of [1, 4]) expect(parseVkey(vkeyOf(type, publicKey))).toMatchObject({ type, publicKey });
  });
  it.each([
    ['the id of another key', vkeyOf(4, publicKey).replace(/[+].{8}[+]/, '+00000000+')],
    ['another name', vkeyOf(4, publicKey).replace('w1', 'w2')],
    ['a type that is unknown', vkeyOf(0, publicKey)],
    ['too short a key', vkeyOf(4, publicKey.subarray(1))],
    ['base64 that is not canonical', 'w1+00000000+A'],
    ['a name with a space', vkeyOf(4, publicKey, 'w 1')],
    ['no parts', 'w1'],
    ['something before it', `w0+${vkeyOf(4, publicKey)}`],
    ['something after it', `${vkeyOf(4, publicKey)} x`],
  ])('is refused for %s', (_what, vkey) => {
    expect(() => parseVkey(vkey)).toThrow(malformed);
  });
});

describe('a .tlog-proof', () => {
  const path = Array.from({ length: 64 }, (_, fill) => Buffer.alloc(32, fill));
  const long = { extra: undefined, index: 12, path: path.slice(0, 63), note: 'a\n\nnote' };
  const FIRST = 'c2sp.org/tlog-proof@v1';
  it.each([long, { ...long, extra: Buffer.from('an entry') }])('is read as it was written, %#', (proof) => {
    expect(parseTlogProof(renderTlogProof(proof))).toEqual(proof);
  });
  it('is written as tlog-proof has it', () => {
    const written = renderTlogProof({ ...long, extra: Buffer.of(1), path: path.slice(0, 1) });
    expect(written).toBe(`${FIRST}\nextra AQ==\nindex 12\n${'A'.repeat(43)}=\n\na\n\nnote`);
  });
  it.each([
    'c2sp.org/tlog-proof@v2\nindex 1\n\nnote',
    `${FIRST}\nextra A\nindex 1\n\nnote`,
    `${FIRST}\nindex 01\n\nnote`,
    `${FIRST}\nxindex 1\n\nnote`,
    `${FIRST}\nindex 1x\n\nnote`,
    `${FIRST}\n\nnote`,
    `${FIRST}\nindex 1\nAAAA\n\nnote`,
    `${FIRST}\nindex 1\nA\n\nnote`,
    `${FIRST}\nindex 1`,
    renderTlogProof({ ...long, path }),
  ])('is not %j', (file) => {
    expect(() => parseTlogProof(file)).toThrow(malformed);
  });
  it('verifies for its entry alone', () => {
    const entry = Buffer.from('an entry');
    const signed = renderCheckpoint({ origin: ORIGIN, size: 1, root: leafHash(entry) });
    const note = renderNote({ text: signed, signatures: [signNote(signed, ORIGIN, keyOf(9))] });
    const [proof, policy] = [
      { ...long, index: 0, path: [], note },
      parsePolicy(`log ${logVkey}\nquorum none`),
    ];
    expect(verifyTlogProof(proof, entry, policy)).toMatchObject({ size: 1, note });
    expect(() => verifyTlogProof(proof, Buffer.from('another'), policy)).toThrow(
      expect.objectContaining({ code: 'inclusion_invalid' }),
    );
  });
});
