import { DpopError } from '@ori/identity/dpop/error';
import { IdentityError } from '@ori/identity/identity-error';
import type { Logger } from '@ori/runtime/log';
import { DependencyError } from '../core/dependency-error.ts';
import type { SigningCall, SigningParts, signProof } from '../core/sign-proof.ts';
import { SigningError } from '../core/stages/signing-error.ts';
import { type RefusalReason, reasonOf } from '../edge/presentations.ts';

/** The stage that refuses with each reason; undefined if any waiting stage can. */
const STAGE_OF = {
  regional_host_refused: 'host',
  bearer_refused: 'token',
  certificate_bound: 'token',
  dpop_nonce_required: 'dpop',
  dpop_proof_refused: 'dpop',
  dpop_proof_replayed: 'dpop',
  dpop_content_refused: undefined,
  dpop_binding_refused: 'dpop',
  dpop_required: 'dpop',
  personal_identity_required: 'scope',
  insufficient_scope: 'scope',
  unsupported_media_type: 'body',
  payload_too_large: 'body',
  invalid_body: 'body',
  not_found: 'gate',
  access_revoked: 'gate',
  configuration_error: 'key',
  rate_limited: 'turns',
  internal_error: undefined,
  timeout: undefined,
  client_gone: undefined,
} as const satisfies Record<RefusalReason, string | undefined>;

/** The stages that refuse, and those that wait for something. */
type Stage = NonNullable<(typeof STAGE_OF)[RefusalReason]> | 'queue' | 'intern' | 'clock' | 'nonce' | 'audit';

/** One wait in a stage. */
interface Step {
  readonly stage: Stage;
  readonly startedAt: number;
  /** Undefined until the wait ends. */
  endedAt?: number;
  hasFailed: boolean;
}

/** One stage, as the log shows it. */
interface StageLine {
  readonly stage: Stage;
  /** `passed`, or the reason of the refusal. */
  readonly outcome: 'passed' | RefusalReason;
  readonly ms?: number;
  /** The message of the error, which quotes nothing from the request. */
  readonly why?: string;
}

/**
 * Wraps `signProof` to log one line at level `debug` for each request: the stages that waited, in the order in which they
 * began, and the one that refused. It wraps the parts for every request, so use it only if that level is logged; `signProof` itself has no hooks.
 */
export function logStages(log: Logger, sign: typeof signProof): typeof signProof {
  return async (call, parts) => {
    const steps: Step[] = [];
    let isInternKnown = false;
    const watched = {
      ...watchCall(call, steps),
      nameIntern(id: string) {
        isInternKnown = true;
        call.nameIntern(id);
      },
    };
    const tell = (stages: StageLine[]) => log.debug({ requestId: call.requestId, stages }, 'signing stages');
    try {
      const answer = await sign(watched, watchParts(parts, steps));
      tell(linesOf(steps, undefined));
      return answer;
    } catch (error) {
      tell(linesOf(steps, { error, isInternKnown }));
      throw error;
    }
  };
}

function watchCall(call: SigningCall, steps: Step[]): SigningCall {
  return { ...call, readBody: (digest) => timed(steps, 'body', call.readBody(digest)) };
}

function watchParts(parts: SigningParts, steps: Step[]): SigningParts {
  const { identities, possession, gate, keys, turns, nonces, audit, atWork } = parts;
  return {
    ...parts,
    identities: {
      identify: (bearer, network) => timed(steps, 'token', identities.identify(bearer, network)),
    },
    possession: {
      ...possession,
      verify: (key, request) => timed(steps, 'dpop', possession.verify(key, request)),
    },
    gate: { facts: (question) => timed(steps, 'intern', gate.facts(question)) },
    keys: { unlock: (internId) => timed(steps, 'key', keys.unlock(internId)) },
    turns: { ...turns, take: (...args) => timed(steps, 'turns', turns.take(...args)) },
    nonces: { ...nonces, reserve: (reservation) => timed(steps, 'nonce', nonces.reserve(reservation)) },
    audit: { append: (line) => timed(steps, 'audit', audit.append(line)) },
    atWork(key, waiter, work) {
      const { promise, resolve } = Promise.withResolvers<void>();
      void timed(steps, 'queue', promise);
      return atWork(key, waiter, () => {
        resolve();
        return work();
      });
    },
  };
}

async function timed<T>(steps: Step[], stage: Stage, answer: T | Promise<T>): Promise<T> {
  const step: Step = { stage, startedAt: performance.now(), hasFailed: true };
  steps.push(step);
  try {
    const value = await answer;
    step.hasFailed = false;
    return value;
  } finally {
    step.endedAt = performance.now();
  }
}

interface Failure {
  readonly error: unknown;
  readonly isInternKnown: boolean;
}

/** The stages that the request waited for, in order, and the one that refused. */
function linesOf(steps: readonly Step[], failure: Failure | undefined): StageLine[] {
  const last = failure && stageOf(steps, failure);
  const reached = new Set(steps.map(({ stage }) => stage).filter((stage) => stage !== last));
  const now = performance.now();
  return [...reached, ...(last === undefined ? [] : [last])].map((stage) => {
    const own = steps.filter((step) => step.stage === stage);
    const ms = own.reduce((sum, { startedAt, endedAt = now }) => sum + endedAt - startedAt, 0);
    return {
      stage,
      ...(failure !== undefined && stage === last ? refusalOf(failure.error) : { outcome: 'passed' }),
      ...(own.length > 0 && { ms: Math.round(ms * 100) / 100 }),
    };
  });
}

function stageOf(steps: readonly Step[], { error, isInternKnown }: Failure): Stage {
  const reason = reasonOf(error);
  if (error instanceof DependencyError && error.dependency === 'clock') return 'clock';
  if (reason === 'not_found' && !isInternKnown) return 'intern';
  if (reason === 'rate_limited' && !(error instanceof SigningError)) return 'queue';
  const waiting = steps.find(({ hasFailed }) => hasFailed) ?? steps.at(-1);
  return STAGE_OF[reason] ?? waiting?.stage ?? 'host';
}

function refusalOf(error: unknown): Pick<StageLine, 'outcome' | 'why'> {
  const isOurs =
    error instanceof SigningError || error instanceof IdentityError || error instanceof DpopError;
  return { outcome: reasonOf(error), ...(isOurs && { why: error.message }) };
}
