import { createHash, randomBytes } from 'node:crypto';
import { encodeSignature, KEY_SET_HEADER, renderJwkSet } from '@ori/proof';
import { createSigningKey, type SigningKey } from '@ori/proof/signing';
import { delegationInput, keyStatementInput, type Role, setStatementInput } from '@ori/proof/statements';

export interface Named {
  baseUrl: string;
  internId: string;
}

export const HERE: Named = {
  baseUrl: 'https://ori.example/v1',
  internId: 'int_1',
};
export const urlOf = ({ baseUrl, internId }: Named): string =>
  `${baseUrl}/interns/${internId}/daemon/jwks.json`;

export const newKey = (): SigningKey => createSigningKey(randomBytes(32));
const xOf = (key: SigningKey) => Buffer.from(key.publicKey).toString('base64url');
export const jwkOf = (key: SigningKey) => ({ kty: 'OKP' as const, crv: 'Ed25519' as const, x: xOf(key) });
const sign = (key: SigningKey, input: Uint8Array): string => encodeSignature(key.sign(input));

/** A delegation as it is in a set. `place` lets a test delegate for another deployment. */
export function delegate(
  root: SigningKey,
  role: Role,
  key: SigningKey,
  { place = HERE, nbf = 0, exp = 10_000 }: { place?: Named; nbf?: number; exp?: number } = {},
) {
  const input = delegationInput({
    baseUrl: place.baseUrl,
    role,
    publicKey: key.publicKey,
    notBefore: nbf,
    expiresAt: exp,
  });
  return { role, x: xOf(key), nbf, exp, signature: sign(root, input) };
}

export const newRoot = () => ({ root: newKey(), keys: newKey(), freshness: newKey() });

export type TestRoot = ReturnType<typeof newRoot>;

export const delegationsOf = ({ root, keys, freshness }: TestRoot, place = HERE) => [
  delegate(root, 'keys', keys, { place }),
  delegate(root, 'freshness', freshness, { place }),
];

/** The document of a rooted set, as a signer serves it. */
export function documentOf(
  held: TestRoot,
  signingKeys: readonly SigningKey[],
  { place = HERE, delegations = delegationsOf(held, place) }: { place?: Named; delegations?: object[] } = {},
): Uint8Array {
  const rows = signingKeys.map(({ publicKey }) => ({ publicKey, notBefore: 0, expiresAt: 5000 }));
  const statements = rows.map((row) => sign(held.keys, keyStatementInput({ ...place, ...row })));
  return Buffer.from(
    JSON.stringify({
      ...renderJwkSet(rows),
      ori: { delegations, statements },
    }),
  );
}

export function headersOf(freshness: SigningKey, body: Uint8Array, at: number, place = HERE) {
  const sha256 = createHash('sha256').update(body).digest('hex');
  const signature = sign(freshness, setStatementInput({ ...place, at, sha256 }));
  return {
    [KEY_SET_HEADER]: `${at} ${signature}`,
    etag: `"${sha256}"`,
    'cache-control': 'public, max-age=30',
  };
}
