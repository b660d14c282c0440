import { ProofError } from './errors.ts';
import { isNonce, isTimestamp, isUser } from './fields.ts';
import { decodeSignature } from './signature.ts';
import { PROOF_HEADERS, type Version } from './versions.ts';

/** A well-formed proof that is not verified yet. */
export interface PresentedProof {
  /** Unix seconds. */
  readonly timestamp: number;
  readonly user: string;
  readonly v1: { readonly signature: Uint8Array };
  /** Present if the request has both version 2 headers. It is then verified by these alone. */
  readonly v2?: { readonly signature: Uint8Array; readonly nonce: string };
}

/** The signature that a presented proof is verified by. */
export interface NewestSignature {
  readonly version: Version;
  readonly signature: Uint8Array;
  /** With version 2. */
  readonly nonce?: string;
}

type Header = keyof typeof PROOF_HEADERS;

const NAMES = Object.values(PROOF_HEADERS);
const HEADER_OF = new Map<string, Header>(
  Object.entries(PROOF_HEADERS).map(([header, name]) => [name, header as Header]),
);
// Without the `u` flag, `/i` folds only ASCII, so no other letter matches one of these.
const PROOF_HEADER = new RegExp(`^(?:${NAMES.join('|')})$`, 'i');
const NAME_LENGTHS = lengthTable(NAMES);

/**
 * Reads the proof from a raw header list, `[name, value, name, value, …]` like Node's `rawHeaders`: the first step of
 * verification (SPEC.md, sections 3 and 4.1). Do not pass a joined or deduplicated list: it hides repeated headers.
 * Checks the form only: not the time, the version policy or the signature.
 *
 * @throws {ProofError} `proof_missing` if one of the three headers of every proof is absent, `proof_malformed` if a
 * header occurs twice or is outside its alphabet, or if only one of the version 2 headers is present; TypeError if the
 * list is not pairs.
 */
export function parseProofHeaders(rawHeaders: readonly string[]): PresentedProof {
  const values: Partial<Record<Header, string>> = {};
  let repeated = false;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    const value = rawHeaders[index + 1];
    if (name === undefined || value === undefined) throw new TypeError('rawHeaders is not a list of pairs');
    if (NAME_LENGTHS[name.length] !== 1) continue;
    const header =
      HEADER_OF.get(name) ?? (PROOF_HEADER.test(name) ? HEADER_OF.get(name.toLowerCase()) : undefined);
    if (header === undefined) continue;
    repeated ||= values[header] !== undefined;
    values[header] = value;
  }
  const { signature, timestamp, user, signatureV2, nonce } = values;
  if (signature === undefined || timestamp === undefined || user === undefined) {
    const absent = signature === undefined ? 'signature' : timestamp === undefined ? 'timestamp' : 'user';
    throw new ProofError(
      'proof_missing',
      `the header ${PROOF_HEADERS[absent]} is absent: check which proxy removes it`,
    );
  }
  if (repeated) throw malformed('a proof header occurs more than once');
  if (!isTimestamp(timestamp)) throw malformed('the timestamp is not Unix seconds');
  if (!isUser(user)) throw malformed('the user is outside its alphabet');
  const every = { timestamp: Number(timestamp), user, v1: { signature: decodeSignature(signature) } };
  if (signatureV2 === undefined && nonce === undefined) return every;
  if (signatureV2 === undefined || nonce === undefined) {
    const absent = PROOF_HEADERS[nonce === undefined ? 'nonce' : 'signatureV2'];
    throw malformed(`the header ${absent} is absent although its counterpart is present`);
  }
  if (!isNonce(nonce)) throw malformed('the nonce is outside its alphabet');
  return { ...every, v2: { signature: decodeSignature(signatureV2), nonce } };
}

/** The newest version that is presented: a proof is verified by its signature alone (SPEC.md, V6). */
export function newestSignature({ v1, v2 }: PresentedProof): NewestSignature {
  return v2 === undefined
    ? { version: 1, signature: v1.signature }
    : { version: 2, signature: v2.signature, nonce: v2.nonce };
}

const malformed = (problem: string): ProofError => new ProofError('proof_malformed', problem);

function lengthTable(names: readonly string[]): Uint8Array {
  const table = new Uint8Array(Math.max(...names.map((name) => name.length)) + 1);
  for (const name of names) table[name.length] = 1;
  return table;
}
