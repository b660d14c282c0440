import type { ColumnType, Generated } from 'kysely';
import type {
  BUILTIN_ACTIONS,
  BuiltinSlug,
  CUSTOM_ACTIONS,
  DeclaredRegion,
  Provider,
  ResetInterval,
  SCAN_SCOPES,
} from './vocabulary.ts';

type CreatedAt = ColumnType<Date, Date | undefined, never>;

/** A provider credential. `sealed_key` is a JWE that opens only for this row; the key itself is not stored. */
export interface ByokCredentialsTable {
  id: string;
  organization_id: string;
  /** Null: in every workspace of the account. */
  workspace_id: string | null;
  provider: Provider;
  name: string | null;
  label: string;
  sealed_key: string;
  /** The region in a structured key. */
  key_region: DeclaredRegion | null;
  disabled: Generated<boolean>;
  /** Only an operator then enables it again. */
  disabled_by_operator: Generated<boolean>;
  is_fallback: Generated<boolean>;
  is_required: Generated<boolean>;
  is_byok_only: Generated<boolean>;
  sort_order: Generated<number>;
  allowed_api_key_hashes: string[] | null;
  allowed_models: string[] | null;
  allowed_user_ids: string[] | null;
  declared_region: DeclaredRegion | null;
  declared_zdr: boolean | null;
  created_at: CreatedAt;
}

interface BuiltinFilter {
  slug: BuiltinSlug;
  action: (typeof BUILTIN_ACTIONS)[number];
  scan_scope?: (typeof SCAN_SCOPES)[number] | undefined;
}

interface CustomFilter {
  pattern: string;
  action: (typeof CUSTOM_ACTIONS)[number];
  label: string | null;
}

type JsonList<Item> = ColumnType<Item[] | null, string | null | undefined, string | null>;

export interface GuardrailsTable {
  id: string;
  organization_id: string;
  workspace_id: string;
  name: string;
  description: string | null;
  allowed_models: string[] | null;
  allowed_providers: string[] | null;
  ignored_models: string[] | null;
  ignored_providers: string[] | null;
  enforce_zdr_anthropic: boolean | null;
  enforce_zdr_google: boolean | null;
  enforce_zdr_openai: boolean | null;
  enforce_zdr_other: boolean | null;
  limit_usd: number | null;
  reset_interval: ResetInterval | null;
  include_byok_in_budgets: Generated<boolean>;
  content_filter_builtins: JsonList<BuiltinFilter>;
  content_filters: JsonList<CustomFilter>;
  created_at: CreatedAt;
  updated_at: ColumnType<Date, Date | undefined, Date>;
}
