import { ApiKeyHash } from '@ori/identity/api-key-hash';
import { z } from 'zod';
import { DECLARED_REGIONS, PROVIDERS } from '../vocabulary.ts';

export const Provider = z.enum(PROVIDERS).meta({
  id: 'Provider',
  description: 'Upstream provider slug.',
  example: 'openai',
});
export type Provider = z.infer<typeof Provider>;

export const DeclaredRegion = z.enum(DECLARED_REGIONS).meta({ id: 'DeclaredRegion' });
export type DeclaredRegion = z.infer<typeof DeclaredRegion>;

/** The descriptions of the fields, for the record and for its change. */
export const FIELDS = {
  name: { description: 'A display name.', example: 'Production' },
  disabled: { description: 'Whether requests skip it.', example: false },
  is_fallback: {
    description:
      'Used only after the other credentials of the provider. Excludes `is_byok_only` and `is_required`.',
    example: false,
  },
  is_required: {
    description:
      "The provider's shared endpoints are removed for the models that the credential applies to (`allowed_models`, or all when it is null); other models may still use them. Excludes `is_fallback`.",
    example: false,
  },
  is_byok_only: {
    description:
      "The provider's shared endpoints are removed for every model: when all own keys fail, the provider is skipped instead of spending credits. Excludes `is_fallback`.",
    example: true,
  },
  allowed_api_key_hashes: { description: 'The API keys that may use it; null: no restriction.' },
  allowed_models: { description: 'The models it may be used for, by slug; null: no restriction.' },
  allowed_user_ids: { description: 'The users that may use it; null: no restriction.' },
  declared_region: {
    description:
      'Region of the upstream account as declared, not verified; null: as `global`. `europe` and `us` make the credential eligible on the regional hosts of that region, except for private endpoints, endpoints pinned to another cloud region, cross-region inference profiles and video models.',
    example: 'global',
  },
  declared_zdr: {
    description:
      "Zero data retention of the upstream account as declared, not verified. true: requests that require zero data retention may route to the credential; false: they never do; null: the policy of the provider's endpoint.",
  },
};

/** A change of a credential: omitted fields keep their value, `null` clears one, a list replaces the whole list. */
export const ByokUpdate = z
  .strictObject({
    key: z
      .string()
      .min(1)
      .max(16_384)
      .meta({
        // The same check as in `readKeyMaterial`, as a schema.
        override: {
          pattern: String.raw`^[^\s\x00-\x1f\x7f-\x9f](?:[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f])?$`,
        },
        description:
          'The new provider key, without control characters and without white space at either end. Rotates in place; encrypted at rest, never returned.',
        writeOnly: true,
      }),
    name: z.string().max(255).nullable().meta(FIELDS.name),
    disabled: z.boolean().meta(FIELDS.disabled),
    is_fallback: z.boolean().meta(FIELDS.is_fallback),
    is_byok_only: z.boolean().meta(FIELDS.is_byok_only),
    is_required: z.boolean().meta(FIELDS.is_required),
    allowed_api_key_hashes: z
      .array(ApiKeyHash)
      .min(1)
      .max(100)
      .nullable()
      .meta(FIELDS.allowed_api_key_hashes),
    allowed_models: z.array(z.string().min(1).max(255)).max(100).nullable().meta(FIELDS.allowed_models),
    allowed_user_ids: z.array(z.string().min(1).max(255)).max(100).nullable().meta(FIELDS.allowed_user_ids),
    declared_region: DeclaredRegion.nullable().meta(FIELDS.declared_region),
    declared_zdr: z.boolean().nullable().meta(FIELDS.declared_zdr),
  })
  .partial()
  .meta({
    id: 'ByokUpdate',
    override: ({ jsonSchema }) => {
      const isTrue = (name: string) => ({ properties: { [name]: { const: true } }, required: [name] });
      const exclusive = ['is_byok_only', 'is_required'];
      jsonSchema.allOf = exclusive.map((name) => ({ not: { allOf: [isTrue('is_fallback'), isTrue(name)] } }));
    },
    example: { key: 'sk-proj-4fzZ6TqW2xKd8NbV1mRyLcwxyz', name: 'Production', disabled: false },
  });
export type ByokUpdate = z.infer<typeof ByokUpdate>;
