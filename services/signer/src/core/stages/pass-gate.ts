import type { GateFacts } from '@ori/store/facts';
import type { Order } from './read-request.ts';
import { SigningError } from './signing-error.ts';
import { type Made, made } from './stage.ts';

/** A member whom the gate admitted to this intern. */
export interface Entry extends Made<'passGate'> {
  readonly order: Order;
  readonly userId: string;
  readonly internId: string;
  readonly workspaceId: string;
  readonly organizationId: string;
  readonly limits: NonNullable<GateFacts['intern']>['turnLimits'];
}

/**
 * The same gate as chat's. Cases that must look alike (unknown subject, unknown or hidden intern,
 * a workspace outside the programme, lifecycle writes disabled) are one `not_found`; only former members learn
 * more.
 *
 * @param facts undefined if the path contains no valid intern id
 * @throws SigningError `not_found`, `access_revoked` or `insufficient_user_authentication`, in this order
 */
export function passGate(order: Order, facts: GateFacts | undefined): Entry {
  if (facts === undefined) throw notFound('intern id outside its alphabet');
  const { user, intern, membership } = facts;
  if (user === null) throw notFound('unknown subject');
  if (intern === null) throw notFound('unknown intern');
  if (membership === null) throw notFound('not a member');
  if (!facts.inProgramme) throw notFound('workspace outside the programme');
  if (!facts.lifecycleWritesEnabled) throw notFound('lifecycle writes disabled');

  if (membership === 'removed') throw revoked('member removed');
  if (user.disabled) throw revoked('user disabled');
  const { authenticatedAt } = order.grant.session;
  const began = authenticatedAt ?? Number.NEGATIVE_INFINITY;
  if (facts.sessionsValidFrom !== null && began < facts.sessionsValidFrom) {
    // Another sign-in does not help where nobody learns when it was.
    if (authenticatedAt === undefined) throw revoked('session revoked, and without a time of its sign-in');
    throw new SigningError('insufficient_user_authentication', 'session revoked');
  }

  const { id: internId, workspaceId, organizationId, turnLimits: limits } = intern;
  return made<Entry>({ order, userId: user.id, internId, workspaceId, organizationId, limits });
}

const notFound = (message: string) => new SigningError('not_found', message);
const revoked = (message: string) => new SigningError('access_revoked', message);
