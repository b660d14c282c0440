import { type Bearer, readBearer } from '@ori/identity/bearer';
import type { Possession, ProvenRequest, VerifiedProof } from '@ori/identity/dpop/possession';
import type { SpendableProof, Spending } from '@ori/identity/dpop/spent-proofs';
import type { ProofTarget } from '@ori/identity/dpop/target';
import type { FairSemaphore } from '@ori/runtime/fair-semaphore';
import type { GateFacts, GateQuestion as Question } from '@ori/store/facts';
import type { TurnTaker, TurnVerdict } from '@ori/turns/turn';
import { authenticate, type Identity } from './stages/authenticate.ts';
import { checkHost } from './stages/check-host.ts';
import { draftProof, type Reservation, reservationOf } from './stages/draft-proof.ts';
import type { ClockChecked, TurnTaken, Written } from './stages/evidence.ts';
import { passGate } from './stages/pass-gate.ts';
import { type Order, readRequest } from './stages/read-request.ts';
import { record, renderAuditLine } from './stages/record.ts';
import { requireContent } from './stages/require-content.ts';
import { keyOfCaller, requireHolder } from './stages/require-holder.ts';
import { requireScope } from './stages/require-scope.ts';
import { NONCE_DRAWS_MAX, type ReservedProof, reserveNonce } from './stages/reserve-nonce.ts';
import { type SignedProof, sign } from './stages/sign.ts';
import { SigningError } from './stages/signing-error.ts';
import { redraft, type Turn, throttle } from './stages/throttle.ts';
import { type UnlockableKey, unlockKey } from './stages/unlock-key.ts';

/** The parts of a signing request that come from HTTP. */
export interface SigningCall {
  readonly requestId: string;
  readonly authority: string | undefined;
  /** The client's network, see `Exchange`. */
  readonly network: string;
  /** Every `Authorization` value of the raw header list. */
  readonly authorizations: readonly string[];
  readonly method: string;
  /** The URL that the client called, for the `htu` claim. */
  readonly target: ProofTarget;
  /** Every `DPoP` value of the raw header list. */
  readonly dpopProofs: readonly string[];
  /** Undefined if the path contains no valid intern id. */
  readonly internId: string | undefined;
  /** Counts this call for an account until it ends; throws if the account has too many in flight. */
  countFor(account: string, subject: string): void;
  /** Called with the intern's id once the store has confirmed it: only then may a log name it. */
  nameIntern(internId: string): void;
  /** Reads the body; called once, after authentication. One that has arrived is returned without a promise. */
  readBody(): Uint8Array | Promise<Uint8Array>;
  /** The deadline of the route. `check` throws after it. */
  readonly deadline: { check(): void; readonly signal: AbortSignal };
}

/** The caller and the intern that the gate decides on. */
export type GateQuestion = Omit<Question, 'internId'> & Pick<SigningCall, 'internId'>;

/** The signer's dependencies. Each rejects with DependencyError if it gets no answer. */
export interface SigningParts {
  readonly regionalHosts: ReadonlySet<string>;
  /** The owner of a token that was verified before is returned without a promise. */
  readonly identities: { identify(bearer: Bearer, network: string): Identity | Promise<Identity> };
  /** Verifies that the caller has the session's key, and spends the DPoP proof of a request that is refused before its turn. */
  readonly possession: Possession;
  /** Whether sessions without a bound key are refused. */
  readonly requireDpop: boolean;
  /** Cached facts are returned without a promise. */
  readonly gate: {
    facts(question: GateQuestion): GateFacts | undefined | Promise<GateFacts | undefined>;
  };
  /** An opened key is returned without a promise. */
  readonly keys: { unlock(internId: string): UnlockableKey | Promise<UnlockableKey> };
  /** Limits how many requests use the dependencies concurrently; the others wait, and accounts take turns. */
  readonly atWork: FairSemaphore;
  readonly turns: {
    /** Spends the DPoP proof with the turn, whether or not that is allowed. If it cannot be spent, no turn is taken. */
    take(
      who: TurnTaker,
      reservation: Reservation | undefined,
      dpopProof: SpendableProof | undefined,
    ): Promise<TurnTaken | Exclude<Spending, 'spent'>>;
    /** Refunds an allowed turn. Best effort: failures are ignored. */
    refund(who: TurnTaker, verdict: TurnVerdict): void;
  };
  readonly nonces: {
    draw(): string;
    reserve(reservation: Reservation): Promise<boolean>;
    /** Called for each drawn nonce that was already reserved. */
    onTaken(): void;
  };
  readonly audit: { append(line: string): Promise<Written> };
  /** Throws while the clock is known to be wrong. */
  readonly clock: { check(): ClockChecked };
  /** Milliseconds since the epoch. */
  now(): number;
}

/** A proof, and the limiter's verdict on the turn that it cost. */
export interface SigningAnswer {
  readonly proof: SignedProof;
  readonly turns: TurnVerdict;
  /** Whether the session is bound to a key. */
  readonly bound: boolean;
}

/**
 * The protocol. Each stage takes a value that only the previous stage can make, or that only an adapter can: a stage
 * that is left out does not compile. A dependency is called immediately before the stage that decides on its answer.
 *
 * @throws SigningError, IdentityError, DpopError, DependencyError, BusyError, and whatever `readBody` and `deadline` throw
 */
export async function signProof(call: SigningCall, parts: SigningParts): Promise<SigningAnswer> {
  const { identities, possession, now } = parts;

  const host = checkHost(call.authority, parts.regionalHosts);
  const bearer = readBearer(call.authorizations);
  const caller = authenticate(host, bearer, await identities.identify(bearer, call.network), seconds(now()));
  const key = keyOfCaller(caller);
  const dpop = key === undefined ? undefined : await possession.verify(key, requestOf(call, bearer));
  try {
    const grant = requireScope(requireHolder(caller, dpop, parts.requireDpop));
    const account = `${grant.session.issuer} ${grant.session.subject}`;
    call.countFor(account, grant.session.subject);
    const read = call.readBody();
    const order = readRequest(grant, requireContent(dpop, read instanceof Promise ? await read : read));
    return await parts.atWork(account, call.deadline, () => issue(order, dpop, call, parts));
  } catch (error) {
    // However the request ends, its DPoP proof can be used once.
    if (dpop !== undefined) await possession.spend(dpop);
    throw error;
  }
}

/** From the order to the proof: the steps that use the store, Redis and the audit file. */
async function issue(
  order: Order,
  dpop: VerifiedProof | undefined,
  call: SigningCall,
  parts: SigningParts,
): Promise<SigningAnswer> {
  const { possession, gate, keys, nonces, turns, audit, clock, now } = parts;
  const { issuer, subject } = order.grant.session;
  const found = gate.facts({ issuer, subject, internId: call.internId });
  const facts = found instanceof Promise ? await found : found;
  if (facts?.intern) call.nameIntern(facts.intern.id);
  const entry = passGate(order, facts);
  const opened = keys.unlock(entry.internId);
  const unlocked = unlockKey(entry, opened instanceof Promise ? await opened : opened);
  const draft = draftProof(unlocked, clock.check(), seconds(now()), nonces.draw());
  const taken = await turns.take(entry, reservationOf(draft), dpop?.take());
  if (typeof taken === 'string') throw await possession.unspent(taken);
  const turn = throttle(draft, taken);
  try {
    const reserved = reserveNonce(turn, taken.reserved) ?? (await reserveAnother(turn, parts));
    call.deadline.check();
    const line = renderAuditLine(reserved, call.requestId, now());
    const recorded = record(reserved, line, await audit.append(line));
    // The write may have used up the rest of the time; then the response is 408.
    call.deadline.check();
    return { proof: sign(recorded), turns: turn.verdict, bound: dpop !== undefined };
  } catch (error) {
    // No proof was issued; a caller who left got nothing for it either.
    turns.refund(entry, turn.verdict);
    throw error;
  }
}

function requestOf({ target, method, dpopProofs }: SigningCall, bearer: Bearer): ProvenRequest {
  return { ...target, method, proofs: dpopProofs, tokenDigest: bearer.digest() };
}

/** Draws nonces until one is unused, without charging another turn. */
async function reserveAnother(turn: Turn, { nonces, now }: SigningParts): Promise<ReservedProof> {
  nonces.onTaken();
  for (let draws = 1; draws < NONCE_DRAWS_MAX; draws++) {
    const again = redraft(turn, seconds(now()), nonces.draw());
    const reservation = reservationOf(again.draft);
    const reserved = reserveNonce(again, reservation !== undefined && (await nonces.reserve(reservation)));
    if (reserved !== undefined) return reserved;
    nonces.onTaken();
  }
  throw new SigningError('internal_error', 'every nonce drawn was taken');
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
