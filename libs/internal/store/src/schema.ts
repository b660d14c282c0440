import type { ColumnType, Generated, JSONColumnType } from 'kysely';
import type { AnswerKey } from './facts.ts';
import type { ByokCredentialsTable, GuardrailsTable } from './schema-management.ts';
import type { InternStatus } from './vocabulary.ts';

/** A timestamp that the database sets when the row is inserted, never changed. */
type CreatedAt = ColumnType<Date, Date | undefined, never>;
type Instant = ColumnType<Date | null, Date | null | undefined, Date | null>;
/** Unix seconds: compared with the timestamps of tokens and proofs, which are whole seconds. */
type UnixSeconds = ColumnType<number | null, number | null | undefined, number | null>;

/** Null for what the signer is configured with. */
type TurnLimit = ColumnType<number | null, number | null | undefined, number | null>;

export interface OrganizationsTable {
  id: string;
  name: string;
  turns_per_user: TurnLimit;
  turns_per_organization: TurnLimit;
  created_at: CreatedAt;
}

export interface WorkspacesTable {
  id: string;
  organization_id: string;
  name: string;
  is_default: Generated<boolean>;
  in_programme: Generated<boolean>;
  /** Unique in the organization among the workspaces that are not deleted. */
  slug: Generated<string>;
  description: string | null;
  created_by: string | null;
  created_at: CreatedAt;
  updated_at: Instant;
  deleted_at: Instant;
}

interface UsersTable {
  id: string;
  name: string;
  /** Unique, whatever its case. */
  email: string | null;
  created_at: CreatedAt;
  disabled_at: Instant;
  sessions_valid_from: UnixSeconds;
}

interface UserSubjectsTable {
  issuer: string;
  subject: string;
  user_id: string;
  created_at: CreatedAt;
}

interface MembersTable {
  workspace_id: string;
  organization_id: string;
  user_id: string;
  created_at: CreatedAt;
  removed_at: Instant;
  /** Only an operator then adds the member again. */
  removed_by_operator: Generated<boolean>;
}

export type ApiKeyKind = 'api' | 'management';

export interface ApiKeysTable {
  hash: string;
  kind: ApiKeyKind;
  name: string;
  label: string;
  organization_id: string;
  workspace_id: string | null;
  intern_id: string | null;
  /** The user to whom the key belongs: it works as long as they have access, and is deleted with them. */
  created_by: string | null;
  /** The hash of the management key that created it. */
  created_by_key: string | null;
  created_at: CreatedAt;
  updated_at: Instant;
  disabled_at: Instant;
  /** Only an operator then enables the key again. */
  disabled_by_operator: Generated<boolean>;
  expires_at: Instant;
}

export interface InternProgress {
  step_label: string;
  step_number: number;
  total_steps: number;
}

export interface InternsTable {
  id: string;
  organization_id: string;
  workspace_id: string;
  name: string;
  description: string | null;
  hostname: string | null;
  model: string | null;
  status: InternStatus;
  vault_id: string | null;
  attached_vault_id: string | null;
  instructions: string | null;
  icon_sha256: string | null;
  last_failure_message: string | null;
  progress: JSONColumnType<InternProgress> | null;
  created_by_user_id: string | null;
  created_by_key_hash: string | null;
  answer_keys: JSONColumnType<AnswerKey[]> | null;
  created_at: CreatedAt;
  updated_at: ColumnType<Date, Date | undefined, Date>;
}

export type IconMediaType = 'image/png' | 'image/jpeg' | 'image/webp';

interface InternIconsTable {
  intern_id: string;
  sha256: string;
  media_type: IconMediaType;
  bytes: Uint8Array;
}

export interface SigningKeysTable {
  id: string;
  intern_id: string;
  kid: string;
  public_key: Uint8Array;
  sealed_seed: string;
  /** The `kid` of the KEK that the seed is sealed under. */
  kek: string;
  not_before: ColumnType<number, number, never>;
  expires_at: UnixSeconds;
  created_at: CreatedAt;
  retired_at: Instant;
  /** Base64; null for a key that no root vouches for. */
  statement: ColumnType<string | null, string | null | undefined, string | null>;
}

interface SwitchesTable {
  name: string;
  enabled: boolean;
}

/** The tables that queries build on; those that plain SQL alone names are not among them. */
export interface Schema {
  organizations: OrganizationsTable;
  workspaces: WorkspacesTable;
  users: UsersTable;
  user_subjects: UserSubjectsTable;
  members: MembersTable;
  api_keys: ApiKeysTable;
  interns: InternsTable;
  intern_icons: InternIconsTable;
  signing_keys: SigningKeysTable;
  switches: SwitchesTable;
  byok_credentials: ByokCredentialsTable;
  guardrails: GuardrailsTable;
}
