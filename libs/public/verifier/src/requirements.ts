import {
  isPath,
  isSingleUse,
  newestSignature,
  PROOF_METHOD,
  type PresentedProof,
  ProofError,
} from '@ori/proof/wire';
import type { Policy } from './policy.ts';
import { isQuestion, leadsToQuestion } from './question-path.ts';
import type { RequestHead } from './request.ts';

/** Throws TypeError unless `request` has this shape: a mistake in the daemon, not in the request. */
export function requireHead(request: RequestHead): void {
  if (!Array.isArray(request?.rawHeaders)) {
    throw new TypeError(
      "rawHeaders: expected node's flat list [name, value, …]; a Headers object hides duplicates",
    );
  }
  for (const text of request.rawHeaders) {
    if (typeof text !== 'string') throw new TypeError('rawHeaders: expected only strings');
  }
  if (typeof request.method !== 'string') throw new TypeError('method: expected a string');
  if (typeof request.target !== 'string') throw new TypeError('target: expected the raw request-target');
}

/** Throws TypeError for anything but bytes: a decoded or parsed body is not the signed one. */
export function requireBytes(bytes: Uint8Array, name: string): void {
  if (!(bytes instanceof Uint8Array)) throw new TypeError(`${name}: expected the raw bytes as a Uint8Array`);
}

/** Requires version 2 unless `acceptV1` is set. A request with version 2 headers is verified by these alone. */
export function requireVersion(presented: PresentedProof, { acceptV1 }: Policy): void {
  if (!isSingleUse(newestSignature(presented).version) && !acceptV1) {
    throw new ProofError(
      'proof_version_not_accepted',
      'a version 1 proof, and version 2 is required: send all five headers',
    );
  }
}

/**
 * Checks what the signature does not cover, which therefore must not vary (SPEC.md, section 4.3): POST, a path without a query, one media type, no content
 * coding. Throws ProofError `request_not_coverable`, and `answers_not_kept` for a question that nobody can answer.
 */
export function requireCoverable({ method, target, rawHeaders }: RequestHead, policy: Policy): void {
  if (method !== PROOF_METHOD) throw new ProofError('request_not_coverable', 'the method is not POST');
  if (target === undefined || !isPath(target)) {
    throw new ProofError('request_not_coverable', 'the request-target is not a path without a query');
  }
  const asks = isQuestion(target);
  if (!asks && leadsToQuestion(target))
    throw new ProofError('request_not_coverable', 'the path of a question, spelled in another way');
  let mediaTypes = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    const value = rawHeaders[index + 1] ?? '';
    if (name?.length === CONTENT_TYPE.length && name.toLowerCase() === CONTENT_TYPE) {
      mediaTypes += 1;
      if (value !== policy.contentType && mediaTypeOf(value) !== policy.contentType) {
        throw new ProofError('request_not_coverable', `the Content-Type is not ${policy.contentType}`);
      }
    } else if (name?.length === CONTENT_ENCODING.length && name.toLowerCase() === CONTENT_ENCODING) {
      if (!IDENTITY.test(value))
        throw new ProofError('request_not_coverable', 'the body has a content coding');
    }
  }
  if (mediaTypes !== 1) throw new ProofError('request_not_coverable', 'expected one Content-Type');
  if (asks && policy.answers === undefined) {
    throw new ProofError('answers_not_kept', 'a client asks what became of a call, and no answers are kept');
  }
}

/** `now - maxAge <= timestamp <= now + clockTolerance`. */
export function requireTimely(timestamp: number, nowMs: number, policy: Policy): void {
  if (!(nowMs / 1000 - policy.maxAgeSeconds <= timestamp)) {
    throw new ProofError(
      'proof_expired',
      `the proof is older than ${policy.maxAgeSeconds} s: sign right before sending, and check the clocks`,
    );
  }
  if (!(timestamp <= nowMs / 1000 + policy.clockToleranceSeconds)) {
    throw new ProofError('proof_not_yet_valid', 'the timestamp is ahead of this clock: check the clocks');
  }
}

const CONTENT_TYPE = 'content-type';
const CONTENT_ENCODING = 'content-encoding';

/**
 * A media type (RFC 9110, section 8.3.1) in ASCII, alone or with the one parameter that does not change what the bytes mean. Only
 * space and tab may surround it: `\s` and `trim` accept 23 more characters.
 */
const MEDIA_TYPE =
  /^[ \t]*([a-z0-9!#$%&'*+.^_`|~-]+\/[a-z0-9!#$%&'*+.^_`|~-]+)(?:[ \t]*;[ \t]*charset=(?:utf-8|"utf-8"))?[ \t]*$/i;
const IDENTITY = /^[ \t]*identity[ \t]*$/i;

/** In lower case; undefined for anything but one media type of this shape. */
function mediaTypeOf(value: string): string | undefined {
  return MEDIA_TYPE.exec(value)?.[1]?.toLowerCase();
}
