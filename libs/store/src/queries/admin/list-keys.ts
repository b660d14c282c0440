import type { Database } from '../../database.ts';
import type { Provider } from '../../vocabulary.ts';
import { firstOf, type ListRequest } from './listed.ts';

/** API keys by hash and label. */
export function listApiKeys(
  db: Database,
  { organizationId, ...request }: ListRequest & { readonly organizationId?: string | undefined },
) {
  return firstOf(
    db.kysely
      .selectFrom('api_keys')
      .select([
        'hash',
        'label',
        'kind',
        'name',
        'organization_id',
        'workspace_id',
        'intern_id',
        'created_by',
        'created_at',
        'disabled_at',
      ])
      .$if(organizationId !== undefined, (query) => query.where('organization_id', '=', organizationId ?? ''))
      .orderBy('organization_id')
      .orderBy('created_at')
      .orderBy('hash'),
    request,
  );
}

/** Signing keys without their seeds, including retired ones, the newest interval first. */
export function listSigningKeys(
  db: Database,
  { internId, ...request }: ListRequest & { readonly internId?: string | undefined },
) {
  return firstOf(
    db.kysely
      .selectFrom('signing_keys')
      .select(['id', 'intern_id', 'kid', 'not_before', 'expires_at', 'created_at', 'retired_at'])
      .$if(internId !== undefined, (query) => query.where('intern_id', '=', internId ?? ''))
      .orderBy('intern_id')
      .orderBy('not_before', 'desc')
      .orderBy('id'),
    request,
  );
}

/** Provider credentials without their keys. */
export function listAllCredentials(
  db: Database,
  {
    organizationId,
    provider,
    ...request
  }: ListRequest & { readonly organizationId?: string | undefined; readonly provider?: Provider | undefined },
) {
  return firstOf(
    db.kysely
      .selectFrom('byok_credentials')
      .select([
        'id',
        'label',
        'provider',
        'name',
        'organization_id',
        'workspace_id',
        'disabled',
        'is_fallback',
        'is_required',
        'is_byok_only',
        'sort_order',
        'allowed_api_key_hashes',
        'allowed_models',
        'allowed_user_ids',
        'declared_region',
        'declared_zdr',
        'created_at',
      ])
      .$if(organizationId !== undefined, (query) => query.where('organization_id', '=', organizationId ?? ''))
      .where((eb) => (provider === undefined ? eb.lit(true) : eb('provider', '=', provider)))
      .orderBy('organization_id')
      .orderBy('sort_order')
      .orderBy('created_at')
      .orderBy('id'),
    request,
  );
}
