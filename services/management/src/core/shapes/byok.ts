import { z } from 'zod';
import { ApiKeyHash, offsetPage, pageOf, Timestamp, WorkspaceId } from './common.ts';
import { Provider } from './provider.ts';

export const DeclaredRegion = z.enum(['global', 'europe', 'us']).meta({ id: 'DeclaredRegion' });
export type DeclaredRegion = z.infer<typeof DeclaredRegion>;

const restriction = (item: z.ZodType<string>) => z.array(item).nullable();

/** A stored provider credential as it is shown: everything but the key. */
export const ByokCredential = z
  .strictObject({
    id: z.uuid(),
    workspace_id: WorkspaceId.nullable().meta({ description: 'null: global, in every workspace.' }),
    provider: Provider,
    name: z.string().max(255).nullable(),
    label: z.string().meta({ description: 'Masked rendering of the provider key.', example: 'sk-...wxyz' }),
    disabled: z.boolean(),
    is_fallback: z.boolean().meta({ description: 'Used only after the other credentials of the provider.' }),
    is_required: z.boolean().meta({
      description:
        "The provider's shared endpoints are removed for the models that the credential applies to.",
    }),
    is_byok_only: z.boolean().meta({
      description: "The provider's shared endpoints are removed for every model.",
    }),
    sort_order: z.int(),
    allowed_api_key_hashes: restriction(ApiKeyHash),
    allowed_models: restriction(z.string()),
    allowed_user_ids: restriction(z.string()),
    declared_region: DeclaredRegion.nullable(),
    declared_zdr: z.boolean().nullable(),
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
    name: z.string().max(255).nullable(),
    disabled: z.boolean(),
    is_fallback: z.boolean(),
    is_byok_only: z.boolean(),
    is_required: z.boolean(),
    allowed_api_key_hashes: z.array(ApiKeyHash).min(1).max(100).nullable(),
    allowed_models: z.array(z.string().min(1)).max(100).nullable(),
    allowed_user_ids: z.array(z.string().min(1)).max(100).nullable(),
    declared_region: DeclaredRegion.nullable(),
    declared_zdr: z.boolean().nullable(),
  })
  .partial()
  .meta({ id: 'ByokUpdate' });
export type ByokUpdate = z.infer<typeof ByokUpdate>;
