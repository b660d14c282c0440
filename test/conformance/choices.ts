import type { Command, Configuration } from './protocol.ts';

const BODY_SECONDS = 30;

const retentionOf = ({ maxAgeSeconds = 60, clockToleranceSeconds = 2 }: Configuration): number =>
  maxAgeSeconds + clockToleranceSeconds + BODY_SECONDS;

/** Of a proof that the store may have forgotten, though its clock now says otherwise: the floor may be anywhere (N3). */
const BELOW_FLOOR = ['ok', 'nonce_replayed', 'proof_expired', 'proof_before_fence'];
/** Of a nonce that the store may have forgotten or may still know (N8). */
const PERHAPS_KNOWN = ['ok', 'nonce_replayed'];
/** The same of a version 1 id, whose proof the store may also compare with one spent unmarked (O8). */
const PERHAPS_MARKED = [...PERHAPS_KNOWN, 'proof_before_fence'];

interface Presented {
  readonly timestamp: number;
  readonly nonce: string | undefined;
  readonly v1Id: string;
  readonly verifier: Configuration;
  /** The verifier's clock when it judged the head, and at the end. */
  readonly judged: number;
  readonly now: number;
  readonly storeNow: number;
}

/**
 * Follows what SPEC.md leaves to a store: when it forgets, and how high its floor is then. Returns the other permitted verdicts for
 * a command with our store's verdict. What a store may have accepted or refused by choice leaves the same choice to later proofs with
 * its nonce or its version 1 id.
 */
export function createChoices(): (command: Command, verdict: string) => readonly string[] | undefined {
  let verifier: Configuration;
  /** The smallest retention of the verifiers of this store (N8). */
  let retention = Number.POSITIVE_INFINITY;
  /** The highest permitted floor. */
  let floor = Number.NEGATIVE_INFINITY;
  /** The latest timestamp of a proof that was accepted or refused by choice. */
  let chosenUpTo = Number.NEGATIVE_INFINITY;
  const spent = new Map<string, number>();
  const open = new Set<string>();
  const heads = new Map<string, { command: Command & { do: 'begin' }; verifier: Configuration }>();

  function forgetAll(): void {
    floor = Number.NEGATIVE_INFINITY;
    chosenUpTo = Number.NEGATIVE_INFINITY;
    spent.clear();
    open.clear();
  }

  function presentedBy(command: Command): Presented | undefined {
    if (command.do === 'begin') heads.set(command.request, { command, verifier });
    if (command.do !== 'present' && command.do !== 'finish') return undefined;
    const begun = command.do === 'finish' ? heads.get(command.request) : undefined;
    const head = begun?.command ?? command;
    if (head.do === 'finish') return undefined;
    const fieldOf = (name: RegExp): string | undefined =>
      head.rawHeaders[head.rawHeaders.findIndex((text, index) => index % 2 === 0 && name.test(text)) + 1];
    const { now, storeNow = now } = command;
    const timestamp = fieldOf(/^x-ori-invoke-timestamp$/i) ?? '';
    const has = (name: string): boolean => head.rawHeaders.some((text) => text.toLowerCase() === name);
    return {
      timestamp: Number(timestamp),
      nonce: has('x-ori-invoke-nonce') ? fieldOf(/^x-ori-invoke-nonce$/i) : undefined,
      v1Id: `${timestamp} ${fieldOf(/^x-ori-invoke-user$/i)} ${command.bodyBase64}`,
      verifier: begun?.verifier ?? verifier,
      judged: head.now,
      now,
      storeNow,
    };
  }

  return (command, verdict) => {
    if (command.do === 'start') retention = Number.POSITIVE_INFINITY;
    if (command.do === 'start' || command.do === 'verifier') {
      verifier = command.verifier;
      retention = Math.min(retention, retentionOf(verifier));
    }
    if (command.do === 'start' || command.do === 'restart') forgetAll();
    const proof = presentedBy(command);
    if (proof === undefined) return undefined;
    const { timestamp, nonce, v1Id, judged, now, storeNow } = proof;
    const { maxAgeSeconds = 60 } = proof.verifier;
    const horizon = storeNow - retentionOf(proof.verifier);
    floor = Math.max(floor, storeNow - retention);
    const spentAt = nonce === undefined ? undefined : spent.get(nonce);
    const isLate = timestamp < judged - maxAgeSeconds || now - judged > BODY_SECONDS;
    let permitted: readonly string[] = [];
    if (!isLate && timestamp > horizon && timestamp <= floor) permitted = BELOW_FLOOR;
    else if (nonce === undefined && (open.has(v1Id) || timestamp <= chosenUpTo)) permitted = PERHAPS_MARKED;
    else if (open.has(v1Id) || open.has(nonce ?? '') || (spentAt ?? timestamp) <= floor)
      permitted = PERHAPS_KNOWN;
    if (verdict === 'ok' && nonce !== undefined) spent.set(nonce, timestamp);
    if (!permitted.includes(verdict)) return undefined;
    open.add(v1Id).add(nonce ?? v1Id);
    chosenUpTo = Math.max(chosenUpTo, timestamp);
    return permitted;
  };
}
