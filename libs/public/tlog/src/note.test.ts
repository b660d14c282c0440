import { verify } from 'node:crypto';
import { createSigningKey } from '@ori/proof/signing';
import { describe, expect, it } from 'vitest';
import { renderCheckpoint } from './checkpoint.ts';
import { cosign, verifyCosignature } from './cosignature.ts';
import {
  NOTE_TYPES,
  noteKey,
  parseNote,
  parseVkey,
  renderNote,
  renderVkey,
  signNote,
  verifyNoteSignature,
} from './note.ts';
import { parsePolicy, requireTrusted } from './policy.ts';

const ORIGIN = 'log.example/log';
const keyOf = (fill: number) => createSigningKey(Buffer.alloc(32, fill));
const witnesses = [1, 2, 3].map((fill) => ({ name: `w${fill}`, key: keyOf(fill) }));
const vkeyOf = (name: string, type: 1 | 4, fill: number) =>
  renderVkey(noteKey(name, type, keyOf(fill).publicKey));
const text = renderCheckpoint({ origin: ORIGIN, size: 7, root: Buffer.alloc(32, 9) });

const policy = (quorum: string) =>
  parsePolicy(
    [
      `log ${vkeyOf(ORIGIN, 1, 9)}`,
      ...witnesses.map(({ name }, at) => `witness ${name} ${vkeyOf(name, 4, at + 1)}`),
      'group two 2 w1 w2 w3',
      `quorum ${quorum}`,
    ].join('\n'),
  );
const note = (...by: readonly number[]) =>
  renderNote({
    text,
    signatures: [
      signNote(text, ORIGIN, keyOf(9)),
      ...by.map((at) => cosign(text, 1_789_000_000, `w${at}`, keyOf(at))),
    ],
  });

it('verifies the example of signed-note, and reads its key', () => {
  const key = parseVkey('example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k');
  const { text, signatures } = parseNote(
    'This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n',
  );
  const [signature] = signatures;
  expect(signature && verifyNoteSignature(text, signature, key)).toBe(true);
  expect(signature && verifyNoteSignature(`${text}x`, signature, key)).toBe(false);
});

describe('a policy', () => {
  it('accepts a checkpoint with its quorum, and returns when each witness cosigned', () => {
    const { size, witnessed } = requireTrusted(note(1, 3), policy('two'));
    expect([size, ...witnessed]).toEqual([7, ['w1', 1_789_000_000], ['w3', 1_789_000_000]]);
  });
  it('refuses one without its quorum, even if one witness cosigned it twice', () => {
    for (const by of [[], [1], [1, 1]]) {
      expect(() => requireTrusted(note(...by), policy('two'))).toThrow(
        expect.objectContaining({ code: 'quorum_missing' }),
      );
    }
  });
  it('refuses one with a bad signature by a known key, and one without the log', () => {
    const bad = note(1, 2).replace('\n7\n', '\n8\n');
    expect(() => requireTrusted(bad, policy('none'))).toThrow(
      expect.objectContaining({ code: 'signature_invalid' }),
    );
    const unsigned = renderNote({ text, signatures: [cosign(text, 1, 'w1', keyOf(1))] });
    expect(() => requireTrusted(unsigned, policy('none'))).toThrow(
      expect.objectContaining({ code: 'signature_invalid' }),
    );
  });
  it.each(['quorum nobody', 'quorum none\nquorum none', 'log x\nquorum none', 'group g 2 w1\nquorum g', ''])(
    'refuses %j',
    (lines) => {
      expect(() => parsePolicy(lines)).toThrow(expect.objectContaining({ code: 'malformed' }));
    },
  );
});

it('a cosignature with Ed25519 is over the lines of cosignature/v1, after its time', () => {
  const { bytes } = cosign(text, 5, 'w1', keyOf(1));
  const { key } = noteKey('w1', NOTE_TYPES.cosignatureV1, keyOf(1).publicKey);
  expect(Buffer.from(bytes.subarray(0, 8)).toString('hex')).toBe('0000000000000005');
  expect(verify(null, Buffer.from(`cosignature/v1\ntime 5\n${text}`), key, bytes.subarray(8))).toBe(true);
});

it('a cosignature has a time that a number holds exactly, and more than a time', () => {
  const key = noteKey('w1', NOTE_TYPES.cosignatureV1, keyOf(1).publicKey);
  const at = (time: number) => verifyCosignature(text, cosign(text, time, 'w1', keyOf(1)), key);
  expect(at(Number.MAX_SAFE_INTEGER)).toBe(Number.MAX_SAFE_INTEGER);
  expect(at(Number.MAX_SAFE_INTEGER + 1)).toBeUndefined();
  const short = { name: 'w1', id: key.id, bytes: Uint8Array.of(1) };
  expect(verifyCosignature(text, short, key)).toBeUndefined();
});

it('a cosignature covers its time', () => {
  const key = noteKey('w1', NOTE_TYPES.cosignatureV1, keyOf(1).publicKey);
  const signature = cosign(text, 5, 'w1', keyOf(1));
  expect(verifyCosignature(text, signature, key)).toBe(5);
  const later = Buffer.from(signature.bytes);
  later[7] = 6;
  expect(verifyCosignature(text, { ...signature, bytes: later }, key)).toBeUndefined();
});
