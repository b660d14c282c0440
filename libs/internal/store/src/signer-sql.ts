import type { Statements } from '@ori/postgres/statements';
import type { AnswerKey, ApiKeyFacts, GateFacts, GateQuestion } from './facts.ts';
import { IS_KEY_DISABLED } from './key-disabled.ts';

/**
 * A proof signed in the last second of a key may be accepted this long after, in seconds: the maximum age of a
 * verifier.
 */
export const PUBLISHED_AFTER_EXPIRY_SECONDS = 600;
/** `addSigningKey` keeps an intern below this; the limit only bounds hand-written rows. */
const KEYS_READ_MAX = 32;
const KEKS_MAX = 100;

/** Times are Unix seconds; the interval is half-open: `notBefore <= t < expiresAt`. */
export interface PublishedKeyRow {
  readonly kid: string;
  readonly publicKey: Uint8Array;
  readonly notBefore: number;
  readonly expiresAt: number | null;
  /** Base64: the statement about this key by a role of the deployment's root (ROOTED-KEY-SETS.md). */
  readonly statement: string | null;
}

export interface PublishedKeys {
  readonly keys: readonly PublishedKeyRow[];
  readonly answerKeys: readonly AnswerKey[];
}

export interface SigningKeyRow extends PublishedKeyRow {
  readonly id: string;
  readonly internId: string;
  /** Opens with `seedContext`. */
  readonly sealedSeed: string;
}

/** How far before and after now to look for expiring keys, in seconds. */
export const EXPIRY_SECONDS = 30 * 24 * 3600;

/** The interns whose last signing key expires or expired within 30 days. Retired keys do not count. */
export interface KeyExpiry {
  /** Interns whose last key has expired and that have no other valid key. */
  readonly expired: number;
  /** When the next intern will be without a key, in Unix seconds; undefined if none will be. */
  readonly nextExpiry: number | undefined;
}

interface ExpiryRow {
  readonly expired: string | number;
  readonly next: string | number | null;
}

/** `$1`: issuer, `$2`: subject, `$3`: intern. Always one row; every join is a primary-key lookup. */
const GATE = `
  select u.id as user_id, u.disabled_at is not null as user_disabled, u.sessions_valid_from,
    w.intern_id, w.workspace_id, w.organization_id, w.in_programme, w.turns_per_user, w.turns_per_organization,
    m.user_id as member_id, m.removed_at is not null as member_removed,
    (select enabled from switches where name = 'lifecycle_writes') as lifecycle_writes
  from (select 1) as one
  left join (
    select i.id as intern_id, w.id as workspace_id, w.organization_id, w.in_programme,
      o.turns_per_user, o.turns_per_organization
    from interns i join workspaces w on w.id = i.workspace_id join organizations o on o.id = w.organization_id
    where i.id = $3 and w.deleted_at is null
  ) w on true
  left join (
    select u.id, u.disabled_at, u.sessions_valid_from
    from user_subjects s join users u on u.id = s.user_id
    where s.issuer = $1 and s.subject = $2
  ) u on true
  left join members m on m.workspace_id = w.workspace_id and m.user_id = u.id`;

const PUBLISHED =
  'kid, public_key as "publicKey", not_before as "notBefore", expires_at as "expiresAt", statement';

/** `$1`: intern. */
const SIGNING_KEYS = `
  select ${PUBLISHED}, id, intern_id as "internId", sealed_seed as "sealedSeed" from signing_keys
  where intern_id = $1 and retired_at is null
  order by not_before desc, id limit ${KEYS_READ_MAX}`;

/** `$1`: intern, `$2`: Unix seconds. */
const PUBLISHED_KEYS = `
  select answer_keys as "answerKeys", k.* from interns left join lateral (
    select ${PUBLISHED} from signing_keys
    where intern_id = interns.id and retired_at is null and (expires_at is null or expires_at > $2)
    order by not_before desc, kid limit ${KEYS_READ_MAX}
  ) k on true
  where interns.id = $1 order by "notBefore" desc, kid`;

/**
 * The last keys of interns that expire within `$2` seconds before or after `$1` without a successor: no other key of the
 * intern is valid at that expiry or, if it has passed, at `$1`. Reads one range of the index on the expiry:
 * `offset 0` keeps PostgreSQL 18 from joining by a hash of all keys.
 */
export const ENDING_KEYS = `
  select ending.id, ending.intern_id, ending.expires_at from signing_keys ending
  where ending.retired_at is null
    and ending.expires_at between $1::int8 - $2::int8 and $1::int8 + $2::int8
    and not exists (
      select from signing_keys successor
      where successor.intern_id = ending.intern_id and successor.retired_at is null
        and successor.not_before <= greatest(ending.expires_at, $1::int8)
        and (successor.expires_at is null or successor.expires_at > greatest(ending.expires_at, $1::int8))
      offset 0
    )`;

const EXPIRY = `
  select count(distinct intern_id) filter (where expires_at <= $1::int8) as expired,
    min(expires_at) filter (where expires_at > $1::int8) as next
  from (${ENDING_KEYS}) as ending`;

/** Reads one entry of the index `signing_keys_kek` for each KEK. */
const KEKS_IN_USE = `
  with recursive used (kek) as (
    (select kek from signing_keys where retired_at is null order by 1 limit 1)
    union all
    select (select kek from signing_keys where retired_at is null and kek > used.kek order by 1 limit 1)
    from used where used.kek is not null
  )
  select kek from used where kek is not null limit ${KEKS_MAX}`;

/**
 * All queries of the signer, under the role `ori_signer`. Each call is one round trip and throws `StoreUnavailable` if
 * there is no answer.
 */
export function signerQueries(db: Statements) {
  return {
    async gateFacts({ issuer, subject, internId }: GateQuestion): Promise<GateFacts> {
      const [row] = await db.query<GateRow>(GATE, [issuer, subject, internId].map(storable));
      return toGateFacts(row);
    },
    /**
     * The intern's keys that are not retired, newest `notBefore` first. Also those not yet valid and expired ones, so
     * that the rows can be cached and chosen by the clock.
     */
    async signingKeys(internId: string): Promise<SigningKeyRow[]> {
      return (await db.query<SigningKeyRow>(SIGNING_KEYS, [internId])).map(withBytes);
    },
    /**
     * The keys to publish at that second, newest first: valid ones, future ones (a key is published before it is used,
     * so that every verifier knows it), and expired ones whose last proofs may still be verified. Retired ones are
     * removed immediately. Empty for an intern that does not exist.
     */
    async publishedKeys(internId: string, { at }: { readonly at: number }): Promise<PublishedKeys> {
      const values = [internId, at - PUBLISHED_AFTER_EXPIRY_SECONDS];
      const rows = await db.query<PublishedRow>(PUBLISHED_KEYS, values);
      return {
        keys: rows.flatMap(({ answerKeys: _, ...key }) => (key.kid === null ? [] : [withBytes(key)])),
        answerKeys: rows[0]?.answerKeys ?? [],
      };
    },
    /** @param question `at`: Unix seconds */
    async keyExpiry({ at }: { readonly at: number }): Promise<KeyExpiry> {
      const [row] = await db.query<ExpiryRow>(EXPIRY, [at, EXPIRY_SECONDS]);
      const { expired = 0, next = null } = row ?? {};
      return { expired: Number(expired), nextExpiry: next === null ? undefined : Number(next) };
    },
    /** The KEKs under which signing keys are sealed that are not withdrawn. */
    async keksInUse(): Promise<string[]> {
      return (await db.query<{ kek: string }>(KEKS_IN_USE)).map(({ kek }) => kek);
    },
    /** @param hash SHA-256 of the whole key, hex */
    async apiKey(hash: string): Promise<ApiKeyFacts | undefined> {
      const found = `select hash, kind, ${IS_KEY_DISABLED} as disabled from api_keys where hash = $1`;
      return (await db.query<ApiKeyFacts>(found, [hash]))[0];
    },
    lifecycleWrites: () => readLifecycleWrites(db),
    /** Resolves if the database answers and is migrated. */
    ping: async () => void (await readLifecycleWrites(db)),
    /** The server's clock, in milliseconds since the epoch. */
    async time() {
      const milliseconds = 'select extract(epoch from clock_timestamp()) * 1000 as ms';
      return Number((await db.query<{ ms: string }>(milliseconds))[0]?.ms);
    },
  };
}

export type SignerQueries = ReturnType<typeof signerQueries>;

/** Whether the operator's switch is on; see `setLifecycleWrites`. */
export async function readLifecycleWrites(db: Statements): Promise<boolean> {
  const found = "select enabled from switches where name = 'lifecycle_writes'";
  return (await db.query<{ enabled: boolean }>(found))[0]?.enabled === true;
}

/** A `Buffer` has methods and a pool of its own. */
function withBytes<Row extends PublishedKeyRow>(row: Row): Row {
  return { ...row, publicKey: new Uint8Array(row.publicKey) };
}

/** Without the columns of a key for an intern that has none. */
type PublishedRow = { readonly answerKeys: AnswerKey[] | null } & (PublishedKeyRow | { readonly kid: null });

interface GateRow {
  user_id: string | null;
  user_disabled: boolean;
  intern_id: string | null;
  workspace_id: string | null;
  organization_id: string | null;
  turns_per_user: number | null;
  turns_per_organization: number | null;
  in_programme: boolean | null;
  member_id: string | null;
  member_removed: boolean;
  sessions_valid_from: number | null;
  lifecycle_writes: boolean | null;
}

/** The `sub` of a token may contain a NUL, which no row contains and PostgreSQL refuses as a query parameter. */
function storable(text: string): string {
  return text.includes('\0') ? '' : text;
}

function toGateFacts(row: GateRow | undefined): GateFacts {
  if (row === undefined) throw new Error('the gate query returned no row');
  const { intern_id, workspace_id, organization_id } = row;
  const intern =
    intern_id === null || workspace_id === null || organization_id === null
      ? null
      : { id: intern_id, workspaceId: workspace_id, organizationId: organization_id, ...turnLimitsOf(row) };
  return {
    user: row.user_id === null ? null : { id: row.user_id, disabled: row.user_disabled },
    intern,
    inProgramme: row.in_programme === true,
    membership: row.member_id === null ? null : row.member_removed ? 'removed' : 'active',
    sessionsValidFrom: row.sessions_valid_from,
    lifecycleWritesEnabled: row.lifecycle_writes === true,
  };
}

function turnLimitsOf({ turns_per_user: user, turns_per_organization: organization }: GateRow) {
  if (user === null && organization === null) return {};
  return { turnLimits: { ...(user !== null && { user }), ...(organization !== null && { organization }) } };
}
