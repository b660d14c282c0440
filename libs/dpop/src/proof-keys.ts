import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import { LRUCache } from 'lru-cache';
import type { DpopAlgorithm, PublicJwk } from './algorithms.ts';

const KEYS_MAX = 10_000;

/** 64 bytes in base64url: what both algorithms make (RFC 7518, section 3.4; RFC 8037, section 3.1). */
const SIGNATURE = /^[A-Za-z0-9_-]{85}[AQgw]$/;

/** The public key of a proof, and its RFC 7638 thumbprint (SHA-256, base64url). */
export interface ProofKey {
  readonly thumbprint: string;
  /** Whether this key signed a JWT of three parts. */
  isSignerOf(jwt: string): boolean;
}

/**
 * Imports the keys of proofs and caches recent ones, because a client signs with the same key again and again.
 *
 * Signatures are verified by `node:crypto` on this thread: jose does it by WebCrypto, whose hand-over to the thread pool costs
 * half as much again as the signature itself.
 */
export function createProofKeys(): (jwk: PublicJwk, alg: DpopAlgorithm) => Promise<ProofKey> {
  const known = new LRUCache<string, ProofKey>({ max: KEYS_MAX });
  return async (jwk, alg) => {
    const name = `${alg}.${jwk.x}.${jwk.kty === 'EC' ? jwk.y : ''}`;
    const cached = known.get(name);
    if (cached !== undefined) return cached;
    const key = createPublicKey({ key: { ...jwk }, format: 'jwk' });
    const thumbprint = await calculateJwkThumbprint({ ...jwk }, 'sha256');
    const imported: ProofKey = { thumbprint, isSignerOf: (jwt) => isSigned(jwt, key) };
    known.set(name, imported);
    return imported;
  };
}

function isSigned(jwt: string, key: KeyObject): boolean {
  const end = jwt.lastIndexOf('.');
  const signature = jwt.slice(end + 1);
  if (!SIGNATURE.test(signature)) return false;
  const digest = key.asymmetricKeyType === 'ec' ? 'sha256' : null;
  const how = { key, dsaEncoding: 'ieee-p1363' } as const;
  return verify(digest, Buffer.from(jwt.slice(0, end)), how, Buffer.from(signature, 'base64url'));
}
