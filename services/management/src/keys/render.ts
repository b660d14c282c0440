import type { KeyHolder } from '../callers/caller.ts';
import type { ApiKeyRow } from './queries.ts';
import { type ApiKey, type CurrentKey, NOT_METERED } from './shape.ts';

type Row = Omit<ApiKeyRow, 'workspace_id'>;

export function renderKey(row: ApiKeyRow): ApiKey {
  return {
    hash: row.hash,
    name: row.name,
    label: row.label,
    workspace_id: row.workspace_id,
    disabled: row.disabled_at !== null,
    creator_user_id: row.created_by,
    external_user: null,
    ...NOT_METERED,
    expires_at: row.expires_at?.toISOString() ?? null,
    last_used_at: null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at?.toISOString() ?? null,
  };
}

export function renderCurrentKey(row: Row, { isManagement, workspaceId }: KeyHolder): CurrentKey {
  return {
    label: row.label,
    is_management_key: isManagement,
    is_provisioning_key: isManagement,
    organization_id: row.organization_id,
    workspace_id: workspaceId,
    creator_user_id: row.created_by,
    ...NOT_METERED,
    budgets: [],
    effective_budget: null,
    expires_at: row.expires_at?.toISOString() ?? null,
    allowed_data_regions: ['global'],
    is_free_tier: false,
    free_model_daily_requests: { limit: 0, remaining: 0, used: 0 },
    rate_limit: { interval: '60s', note: 'Not used.', requests: -1 },
  };
}
