import { ApiKeyHash } from '@ori/identity/api-key-hash';
import { ByokUpdate, DeclaredRegion, FIELDS, Provider } from '@ori/store/byok/credential';
import { z } from 'zod';
import { SAMPLE, Timestamp, WorkspaceId } from '../fields.ts';
import { offsetPage, pageOf } from '../page.ts';

const restriction = (item: z.ZodType<string>) => z.array(item).nullable();

export const ByokCredential = z
  .strictObject({
    id: z.uuid().meta({ example: SAMPLE.credentialId }),
    workspace_id: WorkspaceId.nullable().meta({
      description: 'null: global, in every workspace.',
      example: SAMPLE.workspaceId,
    }),
    provider: Provider,
    name: z.string().max(255).nullable().meta(FIELDS.name),
    label: z.string().meta({ description: 'Masked rendering of the provider key.', example: 'sk-...wxyz' }),
    disabled: z.boolean().meta(FIELDS.disabled),
    is_fallback: z.boolean().meta(FIELDS.is_fallback),
    is_required: z.boolean().meta(FIELDS.is_required),
    is_byok_only: z.boolean().meta(FIELDS.is_byok_only),
    sort_order: z.int().meta({
      description: 'Position in the list and among the credentials of the provider.',
      example: 0,
    }),
    allowed_api_key_hashes: restriction(ApiKeyHash).meta(FIELDS.allowed_api_key_hashes),
    allowed_models: restriction(z.string()).meta(FIELDS.allowed_models),
    allowed_user_ids: restriction(z.string()).meta(FIELDS.allowed_user_ids),
    declared_region: DeclaredRegion.nullable().meta(FIELDS.declared_region),
    declared_zdr: z.boolean().nullable().meta(FIELDS.declared_zdr),
    created_at: Timestamp,
  })
  .meta({ id: 'ByokCredential' });
export type ByokCredential = z.infer<typeof ByokCredential>;

export const ByokCreate = ByokUpdate.extend({
  provider: Provider,
  key: ByokUpdate.shape.key.unwrap(),
  workspace_id: WorkspaceId.nullable().optional().meta({
    description: "Default: the account's default workspace; null: every workspace.",
  }),
}).meta({
  id: 'ByokCreate',
  example: {
    provider: 'openai',
    key: 'sk-proj-4fzZ6TqW2xKd8NbV1mRyLcwxyz',
    name: 'Production',
    is_byok_only: true,
    declared_region: 'global',
  },
});

export const ByokListQuery = z.object({
  ...offsetPage,
  workspace_id: WorkspaceId.optional().meta({ description: "Default: the account's default workspace." }),
  provider: Provider.optional().meta({ description: 'Only credentials of this provider.' }),
});

export const ByokPage = pageOf(ByokCredential).meta({ id: 'ByokPage' });
