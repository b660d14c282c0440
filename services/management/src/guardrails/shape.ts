import { z } from 'zod';
import { offsetPage, pageOf, Timestamp, WorkspaceId } from '../http/page.ts';

export const BUILTIN_SLUGS = [
  'regex-prompt-injection',
  'email',
  'phone',
  'ssn',
  'credit-card',
  'ip-address',
  'person-name',
  'address',
] as const;

const builtin = {
  slug: z.enum(BUILTIN_SLUGS).meta({ description: 'What is looked for.' }),
  action: z
    .enum(['block', 'redact', 'flag'])
    .meta({ description: '`flag` goes with `regex-prompt-injection` alone.' }),
  scan_scope: z
    .enum(['user_only', 'all_messages'])
    .optional()
    .meta({ description: 'Which messages are looked at.' }),
};

const BuiltinFilterInput = z
  .strictObject({
    ...builtin,
    label: z.string().optional().meta({ readOnly: true, description: 'Ignored on input.' }),
  })
  .refine((entry) => entry.action !== 'flag' || entry.slug === 'regex-prompt-injection', {
    message: 'flag is accepted only for regex-prompt-injection',
    path: ['action'],
  })
  .transform(({ label: _, ...entry }) => entry)
  .meta({ id: 'BuiltinFilterInput' });

const BuiltinFilter = z
  .strictObject({
    ...builtin,
    label: z.string().meta({ description: 'What a redaction leaves behind.', example: '[EMAIL]' }),
  })
  .meta({ id: 'BuiltinFilter' });

const CustomFilter = z
  .strictObject({
    pattern: z.string().min(1).max(1000).meta({ description: 'Regular expression, RE2 syntax.' }),
    action: z.enum(['redact', 'block']).meta({ description: 'What happens to a message that matches.' }),
    label: z.string().max(100).nullable().meta({ description: 'A name for people.' }),
  })
  .meta({ id: 'CustomFilter' });

const CustomFilterInput = CustomFilter.extend({
  label: z.string().max(100).nullable().default(null).meta({ description: 'A name for people.' }),
}).meta({ id: 'CustomFilterInput' });
export type CustomFilter = z.infer<typeof CustomFilter>;

const names = (description: string) => z.array(z.string().min(1)).min(1).nullable().meta({ description });
const enforced = (group: string) =>
  z
    .boolean()
    .nullable()
    .meta({
      description: `Enforce zero data retention for ${group}. Where it is not given: \`enforce_zdr\`.`,
    });

/** What a guardrail says: the names accepted when one is made or changed. */
const policy = {
  description: z.string().max(1000).nullable(),
  allowed_models: names('Model slugs or canonical slugs; null: all.'),
  allowed_providers: names('Provider slugs; null: all.'),
  ignored_models: names('Models excluded from routing.'),
  ignored_providers: names('Providers excluded from routing.'),
  enforce_zdr: z.boolean().nullable().meta({
    deprecated: true,
    description: 'Copied into each per-provider flag that is not given. Use those.',
  }),
  enforce_zdr_anthropic: enforced('Anthropic models'),
  enforce_zdr_google: enforced('Google models'),
  enforce_zdr_openai: enforced('OpenAI models'),
  enforce_zdr_other: enforced('models of all other providers'),
  limit_usd: z.number().positive().nullable().meta({ description: 'Spending limit in USD.' }),
  reset_interval: z
    .enum(['daily', 'weekly', 'monthly'])
    .nullable()
    .meta({ description: 'How often the spending limit begins anew; null: never.' }),
  include_byok_in_budgets: z
    .boolean()
    .meta({ description: 'Whether spending on own provider keys counts. Default: false.' }),
};

const name = z.string().min(1).max(200);

export const Guardrail = z
  .strictObject({
    id: z.uuid(),
    name,
    workspace_id: WorkspaceId,
    ...policy,
    content_filter_builtins: z.array(BuiltinFilter).nullable(),
    content_filters: z.array(CustomFilter).nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Guardrail' });
export type Guardrail = z.infer<typeof Guardrail>;

const changes = z
  .strictObject({
    ...policy,
    content_filter_builtins: z.array(BuiltinFilterInput).max(50).nullable(),
    content_filters: z.array(CustomFilterInput).max(50).nullable(),
  })
  .partial();

export const GuardrailCreate = changes
  .extend({ name, workspace_id: WorkspaceId.optional() })
  .meta({ id: 'GuardrailCreate' });
export type GuardrailCreate = z.infer<typeof GuardrailCreate>;

export const GuardrailUpdate = changes.extend({ name: name.optional() }).meta({ id: 'GuardrailUpdate' });
export type GuardrailUpdate = z.infer<typeof GuardrailUpdate>;

export const GuardrailListQuery = z.object({
  ...offsetPage,
  workspace_id: WorkspaceId.optional().meta({ description: "Default: the account's default workspace." }),
});
export type GuardrailListQuery = z.infer<typeof GuardrailListQuery>;

export const GuardrailPage = pageOf(Guardrail).meta({ id: 'GuardrailPage' });
