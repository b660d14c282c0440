import { type CryptoKey, calculateJwkThumbprint, importJWK } from 'jose';
import { LRUCache } from 'lru-cache';
import type { DpopAlgorithm, PublicJwk } from './algorithms.ts';

const KEYS_MAX = 10_000;

/** A public key ready for use, and its RFC 7638 thumbprint (SHA-256, base64url). */
export interface ProofKey {
  readonly key: CryptoKey;
  readonly thumbprint: string;
}

/** Imports the keys of proofs, and remembers the lately used ones: a client signs with the same key again and again. */
export function createProofKeys(): (jwk: PublicJwk, alg: DpopAlgorithm) => Promise<ProofKey> {
  const known = new LRUCache<string, ProofKey>({ max: KEYS_MAX });
  return async (jwk, alg) => {
    const name = `${alg}.${jwk.x}.${jwk.kty === 'EC' ? jwk.y : ''}`;
    const remembered = known.get(name);
    if (remembered !== undefined) return remembered;
    const key = await importJWK({ ...jwk }, alg);
    if (key instanceof Uint8Array) throw new TypeError('not a public key');
    const imported = { key, thumbprint: await calculateJwkThumbprint({ ...jwk }, 'sha256') };
    known.set(name, imported);
    return imported;
  };
}
