import {
  BUILTIN_ACTIONS,
  BUILTIN_SLUGS,
  type BuiltinSlug,
  CUSTOM_ACTIONS,
  RESET_INTERVALS,
  SCAN_SCOPES,
} from '@ori/store/vocabulary';
import { z } from 'zod';
import { displayName, SAMPLE, Timestamp, WorkspaceId } from '../fields.ts';
import { offsetPage, pageOf } from '../page.ts';

/** The text that replaces a redacted match. */
export const LABELS: Readonly<Record<BuiltinSlug, string>> = {
  'regex-prompt-injection': '[PROMPT_INJECTION]',
  email: '[EMAIL]',
  phone: '[PHONE]',
  ssn: '[SSN]',
  'credit-card': '[CREDIT_CARD]',
  'ip-address': '[IP_ADDRESS]',
  'person-name': '[PERSON_NAME]',
  address: '[ADDRESS]',
};

const builtin = {
  slug: z.enum(BUILTIN_SLUGS).meta({ description: 'The pattern to detect.', example: 'email' }),
  action: z
    .enum(BUILTIN_ACTIONS)
    .meta({ description: '`flag` is only for `regex-prompt-injection`.', example: 'redact' }),
  scan_scope: z.enum(SCAN_SCOPES).optional().meta({ description: 'The messages to scan.' }),
};

const BuiltinFilterInput = z
  .strictObject({
    ...builtin,
    label: z.string().optional().meta({ readOnly: true, description: 'As in the record, if it is given.' }),
  })
  .refine(({ slug, label }) => label === undefined || label === LABELS[slug], {
    message: 'cannot be changed',
    path: ['label'],
  })
  .refine((entry) => entry.action !== 'flag' || entry.slug === 'regex-prompt-injection', {
    message: 'flag is accepted only for regex-prompt-injection',
    path: ['action'],
  })
  .transform(({ label: _, ...entry }) => entry)
  .meta({
    id: 'BuiltinFilterInput',
    override: ({ jsonSchema }) => {
      const isOther = { not: { const: 'regex-prompt-injection' } };
      jsonSchema.not = {
        properties: { slug: isOther, action: { const: 'flag' } },
        required: ['slug', 'action'],
      };
    },
  });

const BuiltinFilter = z
  .strictObject({
    ...builtin,
    label: z.string().meta({ description: 'The replacement text of a redaction.', example: '[EMAIL]' }),
  })
  .meta({ id: 'BuiltinFilter' });

/** Two entries of one slug could ask for opposite actions. */
const BuiltinFilters = z
  .array(BuiltinFilterInput)
  .max(BUILTIN_SLUGS.length)
  .refine((entries) => new Set(entries.map(({ slug }) => slug)).size === entries.length, {
    error: 'a slug is given more than once',
  })
  .meta({ description: 'At most one entry for each slug.' });

const label = z
  .string()
  .max(100)
  .nullable()
  .meta({ description: 'A display name.', example: 'Project number' });

const CustomFilter = z
  .strictObject({
    pattern: z
      .string()
      .min(1)
      .max(1000)
      .meta({ description: 'Regular expression, RE2 syntax.', example: 'PRJ-[0-9]{4}' }),
    action: z
      .enum(CUSTOM_ACTIONS)
      .meta({ description: 'The action on a matching message.', example: 'block' }),
    label,
  })
  .meta({ id: 'CustomFilter' });

const CustomFilterInput = CustomFilter.extend({ label: label.default(null) }).meta({
  id: 'CustomFilterInput',
});
export type CustomFilter = z.infer<typeof CustomFilter>;

const list = z.array(z.string().min(1).max(255));
const allowed = (description: string, example: string[] | null) =>
  list
    .min(1, 'an empty list would allow nothing; null lifts the restriction')
    .nullable()
    .meta({
      description: `${description}; null: all. An empty list would allow nothing and is refused.`,
      example,
    });
const ignored = (description: string, example: string[] | null) =>
  list.nullable().meta({ description: `${description}. An empty list clears it, as null does.`, example });
const enforced = (group: string) =>
  z
    .boolean()
    .nullable()
    .meta({
      description: `Enforce zero data retention for ${group}. Default: \`enforce_zdr\`.`,
      example: true,
    });

const policy = {
  description: z.string().max(1000).nullable(),
  allowed_models: allowed('Model slugs or canonical slugs', ['anthropic/claude-sonnet-4.5']),
  allowed_providers: allowed('Provider slugs', null),
  ignored_models: ignored('Models excluded from routing', null),
  ignored_providers: ignored('Providers excluded from routing', ['deepseek']),
  enforce_zdr: z.boolean().nullable().meta({
    deprecated: true,
    description:
      'Copied to each per-provider flag that is not given; null counts as not given. Use those instead.',
  }),
  enforce_zdr_anthropic: enforced('Anthropic models'),
  enforce_zdr_google: enforced('Google models'),
  enforce_zdr_openai: enforced('OpenAI models'),
  enforce_zdr_other: enforced('models of all other providers'),
  limit_usd: z
    .number()
    .min(0)
    .nullable()
    .meta({ description: 'Spending limit in USD; 0: nothing may be spent.', example: 50 }),
  reset_interval: z
    .enum(RESET_INTERVALS)
    .nullable()
    .meta({ description: 'How often the spending limit is reset; null: never.', example: 'monthly' }),
  include_byok_in_budgets: z
    .boolean()
    .meta({ description: 'Whether spending on own provider keys counts. Default: false.', example: false }),
};

const name = displayName(200).meta({ example: 'Support team' });

export const Guardrail = z
  .strictObject({
    id: z.uuid().meta({ example: SAMPLE.guardrailId }),
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

/** Stores an empty list as null. */
const noneIfEmpty = (names: z.ZodNullable<z.ZodArray<z.ZodString>>) =>
  names.transform((given) => (given?.length === 0 ? null : given));

const changes = z
  .strictObject({
    ...policy,
    ignored_models: noneIfEmpty(policy.ignored_models),
    ignored_providers: noneIfEmpty(policy.ignored_providers),
    content_filter_builtins: BuiltinFilters.nullable(),
    content_filters: z.array(CustomFilterInput).max(50).nullable(),
  })
  .partial();

export const GuardrailCreate = changes.extend({ name, workspace_id: WorkspaceId.optional() }).meta({
  id: 'GuardrailCreate',
  example: {
    name: 'Support team',
    limit_usd: 50,
    reset_interval: 'monthly',
    allowed_models: ['anthropic/claude-sonnet-4.5'],
    ignored_providers: ['deepseek'],
    enforce_zdr_anthropic: true,
    enforce_zdr_google: true,
    enforce_zdr_openai: true,
    enforce_zdr_other: true,
    content_filters: [{ action: 'block', label: 'Project number', pattern: 'PRJ-[0-9]{4}' }],
    content_filter_builtins: [{ slug: 'email', action: 'redact' }],
  },
});

export const GuardrailUpdate = changes.extend({ name: name.optional() }).meta({
  id: 'GuardrailUpdate',
  example: { limit_usd: 50, reset_interval: 'monthly', allowed_providers: null },
});

export const GuardrailListQuery = z.object({
  ...offsetPage,
  workspace_id: WorkspaceId.optional().meta({ description: "Default: the account's default workspace." }),
});

export const GuardrailPage = pageOf(Guardrail).meta({ id: 'GuardrailPage' });
