import { z } from 'zod';
import { ApiKeyHash, offsetPage, pageOf, Timestamp, WorkspaceId } from './common.ts';
import { Provider } from './provider.ts';

export const DeclaredRegion = z.enum(['global', 'europe', 'us']).meta({ id: 'DeclaredRegion' });
export type DeclaredRegion = z.infer<typeof DeclaredRegion>;

const restriction = (item: z.ZodType<string>) => z.array(item).nullable();

/** What the fields say, on the record and on its change alike. */
const DESCRIBED = {
  name: { description: 'A name for people.' },
  disabled: { description: 'Whether requests pass it over.' },
  is_fallback: {
    description:
      'Used only after the other credentials of the provider. Excludes `is_byok_only` and `is_required`.',
  },
  is_required: {
    description: "The provider's shared endpoints are removed for the models that the credential applies to.",
  },
  is_byok_only: { description: "The provider's shared endpoints are removed for every model." },
  allowed_api_key_hashes: { description: 'The API keys that may use it; null: no restriction.' },
  allowed_models: { description: 'The models it may be used for, by slug; null: no restriction.' },
  allowed_user_ids: { description: 'The users that may use it; null: no restriction.' },
  declared_region: {
    description: 'Region of the upstream account as declared, not verified; null: as `global`.',
  },
  declared_zdr: {
    description:
      "Zero data retention of the upstream account as declared, not verified; null: the policy of the provider's endpoint.",
  },
};

/** A stored provider credential as it is shown: everything but the key. */
export const ByokCredential = z
  .strictObject({
    id: z.uuid(),
    workspace_id: WorkspaceId.nullable().meta({ description: 'null: global, in every workspace.' }),
    provider: Provider,
    name: z.string().max(255).nullable().meta(DESCRIBED.name),
    label: z.string().meta({ description: 'Masked rendering of the provider key.', example: 'sk-...wxyz' }),
    disabled: z.boolean().meta(DESCRIBED.disabled),
    is_fallback: z.boolean().meta(DESCRIBED.is_fallback),
    is_required: z.boolean().meta(DESCRIBED.is_required),
    is_byok_only: z.boolean().meta(DESCRIBED.is_byok_only),
    sort_order: z.int().meta({ description: 'Place in the list and among the credentials of the provider.' }),
    allowed_api_key_hashes: restriction(ApiKeyHash).meta(DESCRIBED.allowed_api_key_hashes),
    allowed_models: restriction(z.string()).meta(DESCRIBED.allowed_models),
    allowed_user_ids: restriction(z.string()).meta(DESCRIBED.allowed_user_ids),
    declared_region: DeclaredRegion.nullable().meta(DESCRIBED.declared_region),
    declared_zdr: z.boolean().nullable().meta(DESCRIBED.declared_zdr),
    created_at: Timestamp,
  })
  .meta({ id: 'ByokCredential' });
export type ByokCredential = z.infer<typeof ByokCredential>;

export const ByokListQuery = z.object({
  ...offsetPage,
  workspace_id: WorkspaceId.optional().meta({ description: "Default: the account's default workspace." }),
  provider: Provider.optional(),
});
export type ByokListQuery = z.infer<typeof ByokListQuery>;

export const ByokPage = pageOf(ByokCredential).meta({ id: 'ByokPage' });

/** A change of a credential: what is omitted stays, `null` clears, a list replaces the whole list. */
export const ByokUpdate = z
  .strictObject({
    key: z.string().min(1).max(65_536).meta({
      description: 'The new provider key. Rotates in place; encrypted at rest, never returned.',
      writeOnly: true,
    }),
    name: z.string().max(255).nullable().meta(DESCRIBED.name),
    disabled: z.boolean().meta(DESCRIBED.disabled),
    is_fallback: z.boolean().meta(DESCRIBED.is_fallback),
    is_byok_only: z.boolean().meta(DESCRIBED.is_byok_only),
    is_required: z.boolean().meta(DESCRIBED.is_required),
    allowed_api_key_hashes: z
      .array(ApiKeyHash)
      .min(1)
      .max(100)
      .nullable()
      .meta(DESCRIBED.allowed_api_key_hashes),
    allowed_models: z.array(z.string().min(1)).max(100).nullable().meta(DESCRIBED.allowed_models),
    allowed_user_ids: z.array(z.string().min(1)).max(100).nullable().meta(DESCRIBED.allowed_user_ids),
    declared_region: DeclaredRegion.nullable().meta(DESCRIBED.declared_region),
    declared_zdr: z.boolean().nullable().meta(DESCRIBED.declared_zdr),
  })
  .partial()
  .meta({ id: 'ByokUpdate' });
export type ByokUpdate = z.infer<typeof ByokUpdate>;
