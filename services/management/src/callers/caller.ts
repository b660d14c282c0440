import { Refusal } from '../refusal.ts';
import type { ApiKeyCaller, Person } from './queries.ts';

interface SessionFacts {
  readonly scopes: readonly string[];
  /** Unix seconds; undefined if the token does not contain it. */
  readonly authenticatedAt: number | undefined;
  readonly person: Person | undefined;
}

/** The sender of a request, according to its credential; undefined if the credential is unknown. */
export type Caller = { readonly key: ApiKeyCaller } | { readonly session: SessionFacts } | undefined;

/** As the audit of administration names it, or the user of a session; undefined if it is unknown. */
export const actorOf = (caller: Caller): string | undefined =>
  caller && ('key' in caller ? `api_key:${caller.key.hash}` : caller.session.person?.userId);

/** A caller who may use an operation. */
export interface Principal {
  /** The account to which the request counts, for limits per account. */
  readonly account: string;
}

/** An account that the caller may manage as a whole. */
export interface Manager extends Principal {
  readonly organizationId: string;
  /** The user to whom the caller's changes are attributed. */
  readonly userId: string | null;
  readonly actor: string;
  readonly keyHash: string;
}

/**
 * Requires a management key.
 *
 * @throws Refusal `bearer_refused` for an unknown or disabled credential, `management_key_required` for another one,
 *   `access_revoked` for that of a person who left
 */
export function requireManager(caller: Caller): Manager {
  if (caller === undefined) throw unknownBearer();
  if (!('key' in caller)) throw new Refusal('management_key_required');
  const { key } = caller;
  if (key.disabled) throw unknownBearer();
  if (key.kind !== 'management') {
    throw new Refusal('management_key_required');
  }
  requireOwner(key);
  const { organizationId, createdBy: userId, hash: keyHash } = key;
  return { account: organizationId, organizationId, userId, actor: `api_key:${keyHash}`, keyHash };
}

/** Whoever presents an API key, of whatever kind. */
export interface KeyHolder extends Principal {
  readonly hash: string;
  readonly isManagement: boolean;
  /** Null for a management key. */
  readonly workspaceId: string | null;
}

/** @throws Refusal `bearer_refused` for a session, and for a key that is unknown, disabled or of a deleted workspace; `access_revoked` */
export function requireKeyHolder(caller: Caller): KeyHolder {
  if (caller === undefined || !('key' in caller) || caller.key.disabled) throw unknownBearer();
  if (caller.key.workspace?.deleted) throw unknownBearer();
  requireOwner(caller.key);
  const { hash, kind, workspace, organizationId } = caller.key;
  const isManagement = kind === 'management';
  return {
    account: isManagement ? organizationId : hash,
    hash,
    isManagement,
    workspaceId: workspace?.id ?? null,
  };
}

/** The interns that are visible to the caller. */
export interface InternReader extends Principal {
  readonly workspaceIds: readonly string[];
  /** Set for an intern's own key: only this intern is visible, and no collection. */
  readonly internId?: string | undefined;
  readonly keyHash?: string;
  readonly userId?: string;
}

/**
 * Requires a caller to whom interns are visible: an API key with a workspace in the programme, or a session with
 * the `interns` scope of a member of one.
 *
 * @throws Refusal `bearer_refused`, `insufficient_scope`, `access_revoked`, `insufficient_user_authentication`, `not_found`
 */
export function requireInternReader(caller: Caller): InternReader {
  if (caller === undefined) throw unknownBearer();
  return 'key' in caller ? readerOfKey(caller.key) : readerOfSession(caller.session);
}

function readerOfKey(key: ApiKeyCaller): InternReader {
  if (key.disabled || key.kind !== 'api') throw unknownBearer();
  const { workspace } = key;
  if (workspace === null || workspace.deleted || !workspace.inProgramme) throw notFound();
  requireOwner(key);
  const { hash, internId } = key;
  return { account: hash, workspaceIds: [workspace.id], internId: internId ?? undefined, keyHash: hash };
}

function readerOfSession({ scopes, authenticatedAt, person }: SessionFacts): InternReader {
  if (!scopes.includes('interns')) {
    throw new Refusal('insufficient_scope');
  }
  const inProgramme = person?.memberships.filter((membership) => membership.inProgramme) ?? [];
  if (person === undefined || inProgramme.length === 0) throw notFound();
  const { userId, disabled, sessionsValidFrom } = person;
  const valid = inProgramme.filter(({ removed }) => !removed);
  const began = authenticatedAt ?? Number.NEGATIVE_INFINITY;
  const isEnded = sessionsValidFrom !== null && began < sessionsValidFrom;
  if (disabled || valid.length === 0 || (isEnded && authenticatedAt === undefined))
    throw new Refusal('access_revoked');
  if (isEnded) throw new Refusal('insufficient_user_authentication');
  return { account: userId, workspaceIds: valid.map(({ workspaceId }) => workspaceId), userId };
}

/** A key of a person works as long as that person could do the same. */
function requireOwner({ ownerLeft }: ApiKeyCaller): void {
  if (ownerLeft) throw new Refusal('access_revoked');
}

const unknownBearer = () => new Refusal('bearer_refused');

/** The same response for what is absent, hidden or another account's. */
export const notFound = () => new Refusal('not_found');

/** @throws Refusal `not_found` where there is nothing */
export function found<Value>(value: Value | undefined): Value {
  if (value === undefined) throw notFound();
  return value;
}
