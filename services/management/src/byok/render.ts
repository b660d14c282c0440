import type { DeclaredRegion } from '@ori/byok/credential';
import type { Provider } from '@ori/byok/provider';
import type { ByokCredential } from './shape.ts';

/** A credential as it is stored, without what is sealed. */
export interface StoredCredential
  extends Omit<ByokCredential, 'created_at' | 'provider' | 'declared_region'> {
  readonly provider: string;
  readonly declared_region: string | null;
  readonly created_at: Date;
}

/** A credential as it is shown. */
export function renderCredential(credential: StoredCredential): ByokCredential {
  return {
    id: credential.id,
    workspace_id: credential.workspace_id,
    provider: credential.provider as Provider,
    name: credential.name,
    label: credential.label,
    disabled: credential.disabled,
    is_fallback: credential.is_fallback,
    is_required: credential.is_required,
    is_byok_only: credential.is_byok_only,
    sort_order: credential.sort_order,
    allowed_api_key_hashes: credential.allowed_api_key_hashes,
    allowed_models: credential.allowed_models,
    allowed_user_ids: credential.allowed_user_ids,
    declared_region: credential.declared_region as DeclaredRegion | null,
    declared_zdr: credential.declared_zdr,
    created_at: credential.created_at.toISOString(),
  };
}
