import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { SigningKey } from '@ori/proof/signing';
import { sha256 } from './merkle.ts';
import { TlogError } from './tlog-error.ts';

/** Signature types of signed-note: plain Ed25519, and timestamped cosignatures with Ed25519 and with ML-DSA-44. */
export const NOTE_TYPES = { ed25519: 0x01, cosignatureV1: 0x04, mlDsa44: 0x06 } as const;

export type NoteType = (typeof NOTE_TYPES)[keyof typeof NOTE_TYPES];

/** A signed note (c2sp.org/signed-note), its signatures not yet verified. */
export interface Note {
  /** The signed text; ends in a newline. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

export interface NoteSignature {
  readonly name: string;
  /** The first four bytes, in hex. */
  readonly id: string;
  /** What comes after these. */
  readonly bytes: Uint8Array;
}

/** A verifier key: the name of the signer, and the key. */
export interface NoteKey {
  readonly name: string;
  readonly id: string;
  readonly type: NoteType;
  /** The 32 bytes of an Ed25519 key, or the 1312 of an ML-DSA-44 key. */
  readonly publicKey: Uint8Array;
  readonly key: KeyObject;
}

/** Bytes of an ML-DSA-44 public key (FIPS 204, table 2). */
export const ML_DSA_44_BYTES = 1312;
export const NOTE_BYTES_MAX = 1_000_000;
const SIGNATURES_MAX = 100;
const SIGNATURE_LINE = /^— ([^\s\u0085+]+) ([A-Za-z0-9+/]+={0,2})$/;
const NAME = /^[^\s\u0085+]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a note must not contain.
const CONTROL = /[\x00-\x09\x0b-\x1f]/;

/** @throws TlogError `malformed` */
export function parseNote(note: string): Note {
  const end = note.lastIndexOf('\n\n');
  if (note.length > NOTE_BYTES_MAX || end < 0 || !note.endsWith('\n') || CONTROL.test(note))
    throw malformedNote();
  const lines = note.slice(end + 2, -1).split('\n');
  if (lines.length > SIGNATURES_MAX) throw malformedNote();
  return { text: note.slice(0, end + 1), signatures: lines.map(parseSignature) };
}

/** @throws TlogError `malformed` */
export function parseSignature(line: string): NoteSignature {
  const [, name, base64] = SIGNATURE_LINE.exec(line) ?? [];
  const bytes = decodeBase64(base64 ?? '');
  if (name === undefined || bytes === undefined || bytes.length < 5) throw malformedNote();
  return { name, id: bytes.subarray(0, 4).toString('hex'), bytes: bytes.subarray(4) };
}

export function renderNote({ text, signatures }: Note): string {
  return `${text}\n${signatures.map((one) => `${renderSignature(one)}\n`).join('')}`;
}

export function renderSignature({ name, id, bytes }: NoteSignature): string {
  return `— ${name} ${Buffer.concat([Buffer.from(id, 'hex'), bytes]).toString('base64')}`;
}

/** Signs a note's text as type 0x01. */
export function signNote(text: string, name: string, key: SigningKey): NoteSignature {
  const { id } = noteKey(name, NOTE_TYPES.ed25519, key.publicKey);
  return { name, id, bytes: key.sign(Buffer.from(text)) };
}

/** Whether a signature of `key` over `text` is good; only for one that carries the key's name and id. */
export function verifyNoteSignature(text: string, signature: NoteSignature, key: NoteKey): boolean {
  return signature.bytes.length === 64 && verify(null, Buffer.from(text), key.key, signature.bytes);
}

export function isBy(key: NoteKey, signature: NoteSignature): boolean {
  return signature.name === key.name && signature.id === key.id;
}

/** @throws TlogError `malformed` for a name that cannot be one */
export function noteKey(name: string, type: NoteType, publicKey: Uint8Array): NoteKey {
  if (!NAME.test(name) || CONTROL.test(name))
    throw new TlogError('malformed', 'a key name has a space or a plus');
  const text = Buffer.from(publicKey).toString('base64url');
  const jwk =
    type === NOTE_TYPES.mlDsa44
      ? { kty: 'AKP', alg: 'ML-DSA-44', pub: text }
      : { kty: 'OKP', crv: 'Ed25519', x: text };
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  const id = sha256(Buffer.concat([Buffer.from(`${name}\n`), Uint8Array.of(type), publicKey])).subarray(0, 4);
  return { name, id: Buffer.from(id).toString('hex'), type, publicKey, key };
}

/** `name+id+base64(type, key)`, as signed-note defines verifier keys. */
export function renderVkey({ name, id, type, publicKey }: NoteKey): string {
  return `${name}+${id}+${Buffer.concat([Uint8Array.of(type), publicKey]).toString('base64')}`;
}

/** @throws TlogError `malformed`, also for a type that is not supported here */
export function parseVkey(vkey: string): NoteKey {
  const [, name, id, base64] = /^([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(vkey) ?? [];
  const bytes = decodeBase64(base64 ?? '');
  const type = Object.values(NOTE_TYPES).find((known) => known === bytes?.[0]);
  const length = type === NOTE_TYPES.mlDsa44 ? ML_DSA_44_BYTES : 32;
  if (name === undefined || bytes?.length !== 1 + length || type === undefined) {
    throw new TlogError(
      'malformed',
      'expected a verifier key: Ed25519 of type 1 or 4, or ML-DSA-44 of type 6',
    );
  }
  const key = noteKey(name, type, bytes.subarray(1));
  if (key.id !== id)
    throw new TlogError('malformed', `the id in the verifier key of ${name} belongs to another key`);
  return key;
}

/** The bytes of canonical, padded base64; undefined for any other spelling. */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

function malformedNote(): TlogError {
  return new TlogError('malformed', 'not a signed note');
}
