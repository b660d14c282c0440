import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { DpopError } from './dpop-error.ts';
import { type DpopNonces, nonceSeconds } from './nonces.ts';
import { importKey, type ProofKey } from './proof-keys.ts';
import { type ProofClaims, readClaims, readHeader, splitProof } from './read-proof.ts';
import { type SpendableProof, type Spending, type SpentProofs, STORE_APART_SECONDS } from './spent-proofs.ts';
import { isTarget, type ProofTarget } from './target.ts';

/** How far ahead `nbf` may be, in seconds. The nonce bounds the age of a proof, so `iat` is not compared. */
const NBF_FUTURE_SECONDS = 10;
const SESSIONS_MAX = 10_000;

/** A request whose sender must prove possession of a key. */
export interface ProvenRequest extends ProofTarget {
  /** Every `DPoP` value of the raw header list. */
  readonly proofs: readonly string[];
  readonly method: string;
  /** SHA-256 of the access token, in base64url. */
  readonly tokenDigest: string;
}

/**
 * A verified proof for this request. Check its content and spend it before the request has an effect.
 */
class VerifiedProof {
  protected readonly stage = 'verify';
  /** Of the key that signed it. */
  readonly thumbprint: string;
  readonly #content: unknown;
  #spendable: SpendableProof | undefined;

  /** @param content the claim over the request's content; undefined if the proof has none and needs none */
  constructor(thumbprint: string, spendable: SpendableProof, content: unknown) {
    this.thumbprint = thumbprint;
    this.#spendable = spendable;
    this.#content = content;
  }

  /**
   * @param content as it was received; undefined if it was not read
   * @throws DpopError `dpop_content_refused`
   */
  requireContent(content: Uint8Array | undefined): void {
    if (this.#content === undefined) return;
    if (content === undefined || this.#content !== hash('sha256', content, 'base64url'))
      throw contentRefused('different content');
  }

  /** Hands the proof to the caller that spends it; undefined after the first call. */
  take(): SpendableProof | undefined {
    const spendable = this.#spendable;
    this.#spendable = undefined;
    return spendable;
  }
}

export type { VerifiedProof };

export interface PossessionOptions {
  readonly nonces: DpopNonces;
  readonly spent: SpentProofs;
  /** False: a proof without {@link CONTENT_CLAIM} is accepted for any content. */
  readonly requireContent: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export function createPossession({ nonces, spent, requireContent, now }: PossessionOptions) {
  /** Of each session's last verified proof. The next one usually has the same header, so it is not parsed again. */
  const known = new LRUCache<string, { readonly header: string; readonly key: ProofKey }>({
    max: SESSIONS_MAX,
  });

  /** @returns what the nonce says */
  function checkTime({ nonce = '', exp, nbf }: ProofClaims): Omit<SpendableProof, 'id'> {
    const seconds = now() / 1000;
    const epoch = nonces.epochOf(nonce);
    if (epoch === undefined) throw nonceRequired('no nonce of this server, or one that is too old');
    if (exp !== undefined && exp <= seconds) throw refused('exp');
    if (nbf !== undefined && nbf > seconds + NBF_FUTURE_SECONDS) throw refused('nbf');
    const issued = nonceSeconds(nonce);
    return { epoch, from: issued - STORE_APART_SECONDS, until: issued + STORE_APART_SECONDS };
  }

  /** The refusal of a proof that the store did not spend. */
  async function unspent(spending: Exclude<Spending, 'spent'>): Promise<DpopError> {
    if (spending === 'replayed')
      return new DpopError('dpop_proof_replayed', 'the DPoP proof was used before');
    // The nonce in this answer is for the store's new epoch.
    await spent.learn();
    return nonceRequired('the store of used proofs began after the nonce, or has another time');
  }

  return {
    unspent,
    /**
     * Verifies the proof of a request (RFC 9449, section 4.3), the signature last.
     *
     * @param thumbprint of the key that the access token is bound to
     * @throws DpopError
     */
    async verify(thumbprint: string, request: ProvenRequest): Promise<VerifiedProof> {
      // Otherwise the nonce in this answer would be refused too.
      if (spent.epoch() === undefined) await spent.learn();
      const { jwt, header, claims } = splitProof(request.proofs);
      const proof = readClaims(claims);
      if (proof.htm !== request.method) throw refused('htm');
      if (!isTarget(proof.htu, request)) throw refused('htu');
      if (proof.ath !== request.tokenDigest) throw refused('ath');
      if (requireContent && proof.content === undefined) throw contentRefused('no content');
      const issued = checkTime(proof);
      const last = known.get(thumbprint);
      const key = last?.header === header ? last.key : await importKey(readHeader(header));
      if (key.thumbprint !== thumbprint) {
        throw new DpopError('dpop_binding_refused', 'the access token is bound to another key');
      }
      if (!key.isSignerOf(jwt)) throw refused('signature');
      if (key !== last?.key) known.set(thumbprint, { header, key });
      const id = hash('sha256', `${thumbprint}.${proof.jti}`, 'base64url');
      return new VerifiedProof(thumbprint, { id, ...issued }, proof.content);
    },
    /**
     * Spends a proof unless it was taken already.
     *
     * @throws DpopError `dpop_proof_replayed`, `dpop_nonce_required`; whatever `SpentProofs.spend` throws
     */
    async spend(proof: VerifiedProof): Promise<void> {
      const spendable = proof.take();
      if (spendable === undefined) return;
      const spending = await spent.spend(spendable);
      if (spending !== 'spent') throw await unspent(spending);
    },
  };
}

export type Possession = ReturnType<typeof createPossession>;

const contentRefused = (what: string) =>
  new DpopError('dpop_content_refused', `the DPoP proof covers ${what}`);
const refused = (what: string) => new DpopError('dpop_proof_refused', `DPoP proof refused for its ${what}`);
const nonceRequired = (message: string) => new DpopError('dpop_nonce_required', message);
