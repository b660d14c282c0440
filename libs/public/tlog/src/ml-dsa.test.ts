import { createHash } from 'node:crypto';
import { ml_dsa44 } from '@noble/post-quantum/ml-dsa.js';
import { createSigningKey } from '@ori/proof/signing';
import { describe, expect, it } from 'vitest';
import { renderCheckpoint } from './checkpoint.ts';
import { cosign, cosignerKey, type NoteSigner, verifyCosignature } from './cosignature.ts';
import { createLogKeys } from './log-keys.ts';
import { leafHash } from './merkle.ts';
import { createMlDsaKey } from './ml-dsa.ts';
import {
  NOTE_TYPES,
  type NoteSignature,
  noteKey,
  parseVkey,
  renderNote,
  renderVkey,
  signNote,
} from './note.ts';
import { parsePolicy, requireTrusted } from './policy.ts';
import { parseTlogProof, renderTlogProof, verifyTlogProof } from './tlog-proof.ts';

const ORIGIN = 'log.example/log';
const WITNESS = 'witness.example/w1';
const seed = (fill: number) => Buffer.alloc(32, fill);
const keys = createLogKeys(ORIGIN, seed(1).toString('base64'));
const witness = { ed25519: createSigningKey(seed(2)), mlDsa: createMlDsaKey(seed(5)) };
const entry = Buffer.from('an entry');
const text = renderCheckpoint({ origin: ORIGIN, size: 1, root: leafHash(entry) });

const POLICY = `log ${renderVkey(keys.logKey)}
log ${renderVkey(keys.logMlDsaKey)}
witness w1 ${renderVkey(cosignerKey(WITNESS, witness.ed25519))}
witness w1-ml-dsa ${renderVkey(cosignerKey(WITNESS, witness.mlDsa))}
quorum w1
`;
const both = parsePolicy(POLICY, { requireMlDsa: true });

function signaturesOf(text: string, time = 1_789_000_000) {
  return {
    log: signNote(text, ORIGIN, keys.log),
    logMlDsa: cosign(text, 0, ORIGIN, keys.logMlDsa),
    w1: cosign(text, time, WITNESS, witness.ed25519),
    w1MlDsa: cosign(text, time, WITNESS, witness.mlDsa),
  };
}
const honest = signaturesOf(text);
const noteOf = (...signatures: readonly NoteSignature[]) => renderNote({ text, signatures });

it('signs exactly the cosigned_message of tlog-cosignature, as a second engine verifies', () => {
  const message = Buffer.concat([
    Buffer.from('subtree/v1\n\0'),
    Buffer.from([18]),
    Buffer.from(WITNESS),
    Buffer.from('000000006aa22340', 'hex'),
    Buffer.from([15]),
    Buffer.from(ORIGIN),
    Buffer.alloc(8),
    Buffer.from('0000000000000001', 'hex'),
    leafHash(entry),
  ]);
  const { bytes } = cosign(text, 0x6aa22340, WITNESS, witness.mlDsa);
  expect([bytes.length, bytes.subarray(0, 8)]).toEqual([2428, message.subarray(31, 39)]);
  expect(ml_dsa44.verify(bytes.subarray(8), message, witness.mlDsa.publicKey)).toBe(true);
  expect(ml_dsa44.verify(bytes.subarray(8), Buffer.concat([message, message]), witness.mlDsa.publicKey)).toBe(
    false,
  );
});

it('makes the same key of a seed as a second engine, and verifies what that one signs', () => {
  const { publicKey, secretKey } = ml_dsa44.keygen(seed(3));
  expect(Buffer.from(publicKey)).toEqual(createMlDsaKey(seed(3)).publicKey);
  const signer: NoteSigner = { publicKey, sign: (input) => ml_dsa44.sign(input, secretKey) };
  expect(verifyCosignature(text, cosign(text, 7, WITNESS, signer), cosignerKey(WITNESS, signer))).toBe(7);
});

it('a verifier key of type 6 has the id of tlog-cosignature, and 1312 bytes', () => {
  const { publicKey } = witness.mlDsa;
  const key = cosignerKey(WITNESS, witness.mlDsa);
  const id = createHash('sha256').update(`${WITNESS}\n\x06`).update(publicKey).digest('hex').slice(0, 8);
  expect(parseVkey(renderVkey(key))).toMatchObject({ name: WITNESS, id, type: NOTE_TYPES.mlDsa44 });
  const ed25519 = noteKey(WITNESS, NOTE_TYPES.cosignatureV1, witness.ed25519.publicKey);
  const short = Buffer.concat([Uint8Array.of(6), ed25519.publicKey]).toString('base64');
  expect(() => parseVkey(`${WITNESS}+${id}+${short}`)).toThrow(
    expect.objectContaining({ code: 'malformed' }),
  );
});

it('a forged ML-DSA-44 signature by a known log makes the checkpoint invalid', () => {
  const { log, logMlDsa, w1 } = honest;
  expect(requireTrusted(noteOf(log, logMlDsa, w1), parsePolicy(POLICY)).size).toBe(1);
  const { bytes } = cosign(text, 0, ORIGIN, createMlDsaKey(seed(9)));
  expect(() => requireTrusted(noteOf(log, { ...logMlDsa, bytes }, w1), parsePolicy(POLICY))).toThrow(
    expect.objectContaining({ code: 'signature_invalid' }),
  );
});

it.each([
  [{ w1MlDsa: cosign(text, 1_789_000_000, 'witness.example/w2', witness.mlDsa) }, 'the name'],
  [{ w1MlDsa: signaturesOf(text.replace('/log\n', '/logs\n')).w1MlDsa }, 'the origin'],
  [{ w1MlDsa: signaturesOf(text.replace('\n1\n', '\n2\n')).w1MlDsa }, 'the size'],
])('a cosignature with ML-DSA-44 covers %#', ({ w1MlDsa }) => {
  expect(verifyCosignature(text, w1MlDsa, cosignerKey(WITNESS, witness.mlDsa))).toBeUndefined();
});

describe('a policy that requires ML-DSA-44', () => {
  const { log, logMlDsa, w1, w1MlDsa } = honest;
  it('accepts a checkpoint with both kinds of signatures, offline in a .tlog-proof', () => {
    const note = noteOf(log, logMlDsa, w1, w1MlDsa);
    const file = renderTlogProof({ extra: entry, index: 0, path: [], note });
    const { witnessed } = verifyTlogProof(parseTlogProof(file), entry, both);
    expect([...witnessed.keys()]).toEqual(['w1', 'w1-ml-dsa']);
  });
  it.each([
    ['signature_invalid', [log, w1, w1MlDsa]],
    ['signature_invalid', [logMlDsa, w1, w1MlDsa]],
    ['quorum_missing', [log, logMlDsa, w1]],
    ['quorum_missing', [log, logMlDsa, w1MlDsa]],
  ] as const)('refuses one that lacks either kind of either signer: %s', (code, signatures) => {
    expect(() => requireTrusted(noteOf(...signatures), both)).toThrow(expect.objectContaining({ code }));
    if (signatures.includes(log as never) && signatures.includes(w1 as never))
      expect(requireTrusted(noteOf(...signatures), parsePolicy(POLICY)).size).toBe(1);
  });
  it('accepts one of a log and a witness for which it has only ML-DSA-44 keys', () => {
    const only = parsePolicy(
      `log ${renderVkey(keys.logMlDsaKey)}\nwitness w1 ${renderVkey(cosignerKey(WITNESS, witness.mlDsa))}\nquorum w1`,
      { requireMlDsa: true },
    );
    expect([...requireTrusted(noteOf(logMlDsa, w1MlDsa), only).witnessed.keys()]).toEqual(['w1']);
  });
  it('counts no witness by the ML-DSA-44 signature of another', () => {
    const other = createMlDsaKey(seed(4));
    const vkey = renderVkey(cosignerKey('witness.example/w2', other));
    const three = parsePolicy(POLICY.replace('quorum', `witness w2 ${vkey}\nquorum`), { requireMlDsa: true });
    const note = noteOf(log, logMlDsa, w1, cosign(text, 1_789_000_000, 'witness.example/w2', other));
    expect(() => requireTrusted(note, three)).toThrow(expect.objectContaining({ code: 'quorum_missing' }));
  });
  it('refuses one of a log, not of a witness, for which the policy has no ML-DSA-44 key', () => {
    const without = (line: string) => parsePolicy(POLICY.replace(line, ''), { requireMlDsa: true });
    const note = noteOf(log, logMlDsa, w1);
    const withoutLog = without(`log ${renderVkey(keys.logMlDsaKey)}\n`);
    expect(() => requireTrusted(note, withoutLog)).toThrow(/no log of the policy has signed/);
    const witnessKey = renderVkey(cosignerKey(WITNESS, witness.mlDsa));
    expect([...requireTrusted(note, without(`witness w1-ml-dsa ${witnessKey}\n`)).witnessed.keys()]).toEqual([
      'w1',
    ]);
  });
  it('returns the earlier of the two times, since either may be forged, and takes 0 for no time', () => {
    const [early, late] = [signaturesOf(text, 5), signaturesOf(text, 9)];
    const times = [
      noteOf(log, logMlDsa, late.w1, early.w1MlDsa),
      noteOf(log, logMlDsa, early.w1, late.w1MlDsa),
    ];
    for (const note of times) expect(requireTrusted(note, both).witnessed.get('w1')).toBe(5);
    const timeless = noteOf(log, logMlDsa, w1, signaturesOf(text, 0).w1MlDsa);
    expect(() => requireTrusted(timeless, both)).toThrow(expect.objectContaining({ code: 'quorum_missing' }));
  });
});
