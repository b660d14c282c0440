import { signingInputV1 } from '@ori/proof/signing-input';
import {
  createBodyDigest,
  PROOF_METHOD,
  type PresentedProof,
  ProofError,
  parseProofHeaders,
  bodySha256 as sha256Hex,
  UnavailableError,
  type UnavailableErrorCode,
} from '@ori/proof/wire';
import { type Claim, requireSignature, toClaim } from './claim.ts';
import type { Answers } from './kept-answers.ts';
import { codeOf, createReport, type Report } from './outcome.ts';
import { requirePolicy, type VerifierOptions } from './policy.ts';
import { isQuestion } from './question-path.ts';
import { STREAM_SECONDS_MAX } from './replay/times.ts';
import type { RequestHead, SignedRequest } from './request.ts';
import {
  requireBytes,
  requireCoverable,
  requireHead,
  requireTimely,
  requireVersion,
} from './requirements.ts';
import type { VerifiedProof } from './verified-proof.ts';
import { messageOf, warn } from './warning.ts';

/** A proof with acceptable headers whose body is still arriving. */
export interface OpenProof {
  /** The next bytes of the body, exactly as received. */
  update(chunk: Uint8Array): void;
  /**
   * Verifies the signature and spends the proof, as `verify` does. Call it once, within 30 s of `begin`. Until it resolves, the
   * sender of the body is unknown.
   * @param admit called with the user of a valid signature before the proof is spent; what it throws refuses the request
   */
  finish(admit?: (user: string) => void): Promise<VerifiedProof>;
}

/** Judges the requests of one intern's daemon. */
export interface Verifier {
  /**
   * Verifies a request and spends its proof (SPEC.md, section 4). Rejects unless the proof is valid. A proof that is refused
   * before the replay store was asked is not spent.
   * @throws {ProofError} the request is at fault; `code` says why.
   * @throws {UnavailableError} the proof could not be judged; it may be spent.
   * @throws {TypeError} not a request of this shape; nothing was read.
   */
  verify(request: SignedRequest): Promise<VerifiedProof>;
  /** For bodies larger than memory: checks the headers now, the rest after the body. Throws as `verify` does. */
  begin(request: RequestHead): OpenProof;
  /**
   * For adapters: reports to `onOutcome` a request that they answered themselves (`body_too_large`, `proof_expired`,
   * `aborted`, `internal_error`). `verify`, `begin` and `finish` report what they throw.
   */
  readonly report: Report;
  /** For adapters: kept answers, and questions about them. Undefined without the option `answers`. */
  readonly answers: Answers | undefined;
}

/**
 * A verifier for one intern's daemon. The adapters (`@ori/verifier/express`, …) take it; `verify` and `begin` are for
 * anything else.
 *
 * @throws TypeError for an unknown option, or a value out of range
 * @example
 * const keys = createRemoteKeySet('https://ori.example/v1/interns/int_7Qm2/daemon/jwks.json');
 * const verifier = createVerifier({ internId: 'int_7Qm2', keys, replay: memoryReplayStore() });
 * const proof = await verifier.verify({ method: req.method, target: req.url, rawHeaders: req.rawHeaders, body });
 */
export function createVerifier(options: VerifierOptions): Verifier {
  const policy = requirePolicy(options);
  const { internId, keys, replay, now } = policy;
  const report = createReport(policy.onOutcome);
  const answers = policy.answers?.(policy);
  replay.attach?.(policy);

  function judge(request: RequestHead): Judged {
    const nowMs = now();
    const presented = parseProofHeaders(request.rawHeaders);
    requireVersion(presented, policy);
    requireCoverable(request, policy);
    requireTimely(presented.timestamp, nowMs, policy);
    return { presented, path: request.target ?? '', judgedAtMs: nowMs };
  }

  async function settle(
    { presented, path, judgedAtMs }: Judged,
    digest: string,
    admit?: (user: string) => void,
  ): Promise<VerifiedProof> {
    const claim = toClaim(presented, internId, path, digest);
    await orUnavailable('keys_unavailable', () => requireSignature(claim, keys));
    const nowMs = now();
    requirePrompt(judgedAtMs, nowMs);
    admit?.(claim.user);
    await orUnavailable('replay_store_unavailable', async () => {
      const caller = answers === undefined || isQuestion(path) ? undefined : claim.user;
      const v1Id = (): string => sha256Hex(signingInputV1(claim));
      const answer = await replay.spend({ ...claim, policy, nowMs, v1Id, caller });
      if (answer !== 'spent') throw new TypeError("spend: expected 'spent' from the replay store");
    });
    const proof = toVerifiedProof(claim, path);
    answers?.accept(proof, claim.signingInput);
    reportAccepted(proof, claim.signingInput);
    return proof;
  }

  function reportAccepted(proof: VerifiedProof, signingInput: Uint8Array): void {
    if (policy.onAccepted === undefined) return;
    try {
      policy.onAccepted(proof, sha256Hex(signingInput));
    } catch (cause) {
      // The proof is spent, so an error that suggests a retry would be wrong.
      warn('internal_error', messageOf(new Error('onAccepted threw', { cause })));
    }
  }

  function reportRefusal(request: RequestHead, error: unknown): void {
    const code = codeOf(error);
    if (code !== undefined) report(code, request, error);
  }

  /** Reports the outcome of `judgement`. */
  async function reporting(
    request: RequestHead,
    judgement: () => Promise<VerifiedProof>,
  ): Promise<VerifiedProof> {
    try {
      const proof = await judgement();
      report('accepted', request);
      return proof;
    } catch (error) {
      reportRefusal(request, error);
      throw error;
    }
  }

  return {
    report,
    answers,

    async verify(request) {
      requireHead(request);
      requireBytes(request.body, 'body');
      return reporting(request, async () => settle(judge(request), sha256Hex(request.body)));
    },

    begin(request) {
      requireHead(request);
      let judged: Judged;
      try {
        judged = judge(request);
      } catch (error) {
        reportRefusal(request, error);
        throw error;
      }
      const digest = createBodyDigest();
      let finished = false;
      const requireOpen = (): void => {
        if (finished) throw new TypeError('finish was already called');
      };
      return {
        update(chunk) {
          requireOpen();
          requireBytes(chunk, 'chunk');
          digest.update(chunk);
        },
        async finish(admit) {
          requireOpen();
          finished = true;
          return reporting(request, () => settle(judged, digest.hex(), admit));
        },
      };
    },
  };
}

/** Turns anything else that a key set or replay store throws into an UnavailableError. */
async function orUnavailable(code: UnavailableErrorCode, ask: () => Promise<void>): Promise<void> {
  try {
    await ask();
  } catch (cause) {
    if (codeOf(cause) !== undefined) throw cause;
    const which = code === 'keys_unavailable' ? 'key set' : 'replay store';
    throw new UnavailableError(code, `the ${which} failed`, { cause });
  }
}

interface Judged {
  readonly presented: PresentedProof;
  readonly path: string;
  readonly judgedAtMs: number;
}

/** Stores remember a proof for this long after its maximum age, so nothing may be spent later. */
function requirePrompt(judgedAtMs: number, nowMs: number): void {
  if (nowMs - judgedAtMs > STREAM_SECONDS_MAX * 1000) {
    throw new ProofError('proof_expired', `the body took longer than ${STREAM_SECONDS_MAX} s`);
  }
}

function toVerifiedProof({ user, internId, version, timestamp, nonce }: Claim, path: string): VerifiedProof {
  const issuedAt = new Date(timestamp * 1000);
  return Object.freeze(
    nonce === undefined
      ? { user, internId, version, issuedAt }
      : { user, internId, version, issuedAt, method: PROOF_METHOD, path, nonce },
  );
}
