import { isNonce, isTimestamp, isUser } from './fields.ts';
import { encodeSignature } from './signature.ts';
import { PROOF_HEADERS, type ProofHeaderValues, type Version, versionFacts } from './versions.ts';

/** The header of each answer that has, or confirms, a rooted key set: `<Unix milliseconds> <signature>`. */
export const KEY_SET_HEADER = 'x-ori-key-set';

/** What a proof's headers contain; `signatures` are those of the versions that it has, the oldest first. */
export interface SignedFields {
  /** Unix seconds. */
  readonly timestamp: number;
  readonly user: string;
  readonly nonce?: string | undefined;
  readonly signatures: readonly { readonly version: Version; readonly signature: Uint8Array }[];
}

/**
 * The headers of a proof, as in the signing response: three keys, or five with a version 2 proof. Throws TypeError if a
 * value is outside the alphabet of its header.
 */
export function renderProof({ timestamp, user, nonce, signatures }: SignedFields): ProofHeaderValues {
  const fields: Partial<Record<keyof typeof PROOF_HEADERS, string | undefined>> = {
    timestamp: String(timestamp),
    user,
    nonce,
  };
  if (!isTimestamp(String(timestamp))) throw new TypeError('timestamp is not whole Unix seconds');
  if (!isUser(user)) throw new TypeError('user is outside its alphabet');
  const values: Partial<Mutable<ProofHeaderValues>> = {};
  signatures.forEach(({ version, signature }) => {
    const row = versionFacts(version);
    if (row.adds.includes('nonce') && !isNonce(nonce ?? ''))
      throw new TypeError('nonce is outside its alphabet');
    row.adds.forEach((header) => {
      const own = header === row.signature ? encodeSignature(signature) : fields[header];
      if (own !== undefined) values[PROOF_HEADERS[header]] = own;
    });
  });
  return values as ProofHeaderValues;
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };
