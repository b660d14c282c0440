import { hash } from 'node:crypto';
import { DpopError } from './dpop-error.ts';
import { createFamiliarHeaders } from './familiar-headers.ts';
import type { DpopNonces } from './nonces.ts';
import { importKey } from './proof-keys.ts';
import { type ProofClaims, readClaims, readHeader, splitProof } from './read-proof.ts';
import type { SpentProofs } from './spent-proofs.ts';
import { isTarget, type ProofTarget } from './target.ts';

/** How old a proof without a nonce may be by its own `iat`, and how far ahead, in seconds. */
const IAT_PAST_SECONDS = 60;
const IAT_FUTURE_SECONDS = 10;

/** A request whose sender must prove possession of a key. */
export interface ProvenRequest extends ProofTarget {
  /** Every `DPoP` value of the raw header list. */
  readonly proofs: readonly string[];
  readonly method: string;
  readonly accessToken: string;
}

/** A verified proof for this request, which has to be spent before the request has an effect. */
class VerifiedProof {
  protected readonly stage = 'verify';
  /** Of the key that signed it. */
  readonly thumbprint: string;
  #id: string | undefined;

  constructor(thumbprint: string, id: string) {
    this.thumbprint = thumbprint;
    this.#id = id;
  }

  /** For the one who spends the proof: undefined after the first call. */
  takeId(): string | undefined {
    const id = this.#id;
    this.#id = undefined;
    return id;
  }
}

export type { VerifiedProof };

export interface Possession {
  /**
   * Verifies the proof of a request (RFC 9449, section 4.3), the signature last.
   *
   * @param thumbprint of the key that the access token is bound to
   * @throws DpopError
   */
  verify(thumbprint: string, request: ProvenRequest): Promise<VerifiedProof>;
  /**
   * Spends a proof whose id was not taken yet.
   *
   * @throws DpopError `dpop_proof_replayed`; whatever `SpentProofs.spend` throws
   */
  spend(proof: VerifiedProof): Promise<void>;
}

export interface PossessionOptions {
  readonly nonces: DpopNonces;
  readonly spent: SpentProofs;
  /** False: a proof without a nonce is accepted if its `iat` is current by this server's clock. */
  readonly requireNonce: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export function createPossession({ nonces, spent, requireNonce, now }: PossessionOptions): Possession {
  const headers = createFamiliarHeaders();

  function checkTime({ nonce, iat, exp, nbf }: ProofClaims): void {
    const seconds = now() / 1000;
    if (nonce !== undefined) {
      if (!nonces.isGood(nonce)) throw nonceRequired('the nonce is not ours, or too old');
    } else {
      if (requireNonce) throw nonceRequired('no nonce');
      if (iat < seconds - IAT_PAST_SECONDS || iat > seconds + IAT_FUTURE_SECONDS) {
        throw nonceRequired('no nonce, and iat is not now');
      }
    }
    if (exp !== undefined && exp <= seconds) throw refused('exp');
    if (nbf !== undefined && nbf > seconds + IAT_FUTURE_SECONDS) throw refused('nbf');
  }

  return {
    async verify(thumbprint, request) {
      const { jwt, header, claims } = splitProof(request.proofs);
      const proof = readClaims(claims);
      if (proof.htm !== request.method) throw refused('htm');
      if (!isTarget(proof.htu, request)) throw refused('htu');
      if (proof.ath !== hash('sha256', request.accessToken, 'base64url')) throw refused('ath');
      checkTime(proof);
      const familiar = headers.keyOf(thumbprint, header);
      const key = familiar ?? (await importKey(readHeader(header)));
      if (key.thumbprint !== thumbprint) {
        throw new DpopError('dpop_binding_refused', 'the access token is bound to another key');
      }
      if (!key.isSignerOf(jwt)) throw refused('signature');
      if (familiar === undefined) headers.remember(header, key);
      return new VerifiedProof(thumbprint, hash('sha256', `${thumbprint}.${proof.jti}`, 'base64url'));
    },
    async spend(proof) {
      const id = proof.takeId();
      if (id !== undefined && !(await spent.spend(id))) throw replayed();
    },
  };
}

/** The refusal of a proof that was spent before. */
export const replayed = () => new DpopError('dpop_proof_replayed', 'the DPoP proof was used before');
const refused = (what: string) => new DpopError('dpop_proof_refused', `DPoP proof refused for its ${what}`);
const nonceRequired = (message: string) => new DpopError('dpop_nonce_required', message);
