import { ProofError } from './errors.ts';
import { isNonce, isTimestamp, isUser } from './fields.ts';
import { decodeSignature, encodeSignature } from './signature.ts';

/** The names of the proof headers, in lower case. Other spellings are other headers: `x_ori_invoke_user` is not read. */
export const PROOF_HEADERS = {
  signature: 'x-ori-invoke-signature',
  timestamp: 'x-ori-invoke-timestamp',
  user: 'x-ori-invoke-user',
  signatureV2: 'x-ori-invoke-signature-v2',
  nonce: 'x-ori-invoke-nonce',
} as const;

/** A well-formed proof that is not verified yet. */
export interface PresentedProof {
  /** Unix seconds. */
  readonly timestamp: number;
  readonly user: string;
  readonly v1: { readonly signature: Uint8Array };
  /** Present if the request has both version 2 headers. It is then verified by these alone. */
  readonly v2?: { readonly signature: Uint8Array; readonly nonce: string };
}

/** The signing response: header names and values, ready to send. */
export type ProofHeaderValues = {
  'x-ori-invoke-signature': string;
  'x-ori-invoke-timestamp': string;
  'x-ori-invoke-user': string;
  'x-ori-invoke-signature-v2'?: string;
  'x-ori-invoke-nonce'?: string;
};

// Without the `u` flag, `/i` folds only ASCII, so no other letter matches one of these.
const PROOF_HEADER = /^x-ori-invoke-(?:signature(?:-v2)?|timestamp|user|nonce)$/i;
const NAME_LENGTHS = lengthTable(Object.values(PROOF_HEADERS));

/**
 * Reads the proof from a raw header list, `[name, value, name, value, …]` like Node's `rawHeaders`: the first step of
 * verification (SPEC.md, sections 3 and 5.1). Do not pass a joined or deduplicated list: it hides repeated headers.
 * Checks the form only: not the time, the version policy or the signature.
 *
 * @throws {ProofError} `proof_missing` if one of the three headers of every proof is absent, `proof_malformed` if a
 * header occurs twice or is outside its alphabet, or if only one of the version 2 headers is present; TypeError if the
 * list is not pairs.
 */
export function parseProofHeaders(rawHeaders: readonly string[]): PresentedProof {
  let signature: string | undefined;
  let timestamp: string | undefined;
  let user: string | undefined;
  let signatureV2: string | undefined;
  let nonce: string | undefined;
  let repeated = false;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    const value = rawHeaders[index + 1];
    if (name === undefined || value === undefined) throw new TypeError('rawHeaders is not a list of pairs');
    if (NAME_LENGTHS[name.length] !== 1 || !PROOF_HEADER.test(name)) continue;
    switch (name.toLowerCase()) {
      case PROOF_HEADERS.signature:
        repeated ||= signature !== undefined;
        signature = value;
        break;
      case PROOF_HEADERS.timestamp:
        repeated ||= timestamp !== undefined;
        timestamp = value;
        break;
      case PROOF_HEADERS.user:
        repeated ||= user !== undefined;
        user = value;
        break;
      case PROOF_HEADERS.signatureV2:
        repeated ||= signatureV2 !== undefined;
        signatureV2 = value;
        break;
      case PROOF_HEADERS.nonce:
        repeated ||= nonce !== undefined;
        nonce = value;
        break;
    }
  }
  if (signature === undefined || timestamp === undefined || user === undefined) {
    const absent = signature === undefined ? 'signature' : timestamp === undefined ? 'timestamp' : 'user';
    throw new ProofError(
      'proof_missing',
      `the header ${PROOF_HEADERS[absent]} is absent: check what removes it on the way`,
    );
  }
  if (repeated) throw new ProofError('proof_malformed', 'a proof header occurs more than once');
  if (!isTimestamp(timestamp)) throw new ProofError('proof_malformed', 'the timestamp is not Unix seconds');
  if (!isUser(user)) throw new ProofError('proof_malformed', 'the user is outside its alphabet');
  const base = { timestamp: Number(timestamp), user, v1: { signature: decodeSignature(signature) } };
  if (signatureV2 === undefined && nonce === undefined) return base;
  if (signatureV2 === undefined || nonce === undefined) {
    throw new ProofError(
      'proof_malformed',
      `the header ${signatureV2 === undefined ? PROOF_HEADERS.signatureV2 : PROOF_HEADERS.nonce} is absent although its pair is present`,
    );
  }
  if (!isNonce(nonce)) throw new ProofError('proof_malformed', 'the nonce is outside its alphabet');
  return { ...base, v2: { signature: decodeSignature(signatureV2), nonce } };
}

/**
 * The headers of a proof, as in the signing response: three keys, or five with a version 2 proof. `timestamp` is Unix
 * seconds, signatures are 64 bytes. Throws TypeError if a value is outside the alphabet of its header.
 */
export function renderProofHeaders(proof: {
  timestamp: number;
  user: string;
  signatureV1: Uint8Array;
  v2?: { signature: Uint8Array; nonce: string };
}): ProofHeaderValues {
  const timestamp = String(proof.timestamp);
  if (!isTimestamp(timestamp)) throw new TypeError('timestamp is not whole Unix seconds');
  if (!isUser(proof.user)) throw new TypeError('user is outside its alphabet');
  const values: ProofHeaderValues = {
    'x-ori-invoke-signature': encodeSignature(proof.signatureV1),
    'x-ori-invoke-timestamp': timestamp,
    'x-ori-invoke-user': proof.user,
  };
  if (proof.v2 === undefined) return values;
  if (!isNonce(proof.v2.nonce)) throw new TypeError('nonce is outside its alphabet');
  values['x-ori-invoke-signature-v2'] = encodeSignature(proof.v2.signature);
  values['x-ori-invoke-nonce'] = proof.v2.nonce;
  return values;
}

function lengthTable(names: readonly string[]): Uint8Array {
  const table = new Uint8Array(Math.max(...names.map((name) => name.length)) + 1);
  for (const name of names) table[name.length] = 1;
  return table;
}
