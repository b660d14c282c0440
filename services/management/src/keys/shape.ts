import { ApiKeyHash } from '@ori/identity/api-key-hash';
import { z } from 'zod';
import { displayName, SAMPLE, Timestamp, UserId, WorkspaceId } from '../fields.ts';
import { booleanParameter, dataOf, offsetPage, pageOf } from '../page.ts';

const name = displayName(255).meta({ description: 'A display name.', example: 'Support bot' });

const label = z.string().meta({ description: 'Masked rendering of the key.', example: 'sk-...7c2e' });

const amount = (description: string) => z.number().min(0).meta({ description, example: 0 });

/** Nothing is metered here, so that every amount is 0 and there is no limit. */
const spending = {
  usage: amount('Spending in USD. Not metered here: 0.'),
  usage_daily: amount('As `usage`, of the current UTC day.'),
  usage_weekly: amount('As `usage`, of the current UTC week.'),
  usage_monthly: amount('As `usage`, of the current UTC month.'),
  byok_usage: amount('Spending on own provider keys in USD. Not metered here: 0.'),
  byok_usage_daily: amount('As `byok_usage`, of the current UTC day.'),
  byok_usage_weekly: amount('As `byok_usage`, of the current UTC week.'),
  byok_usage_monthly: amount('As `byok_usage`, of the current UTC month.'),
  include_byok_in_limit: z
    .boolean()
    .meta({ description: 'Keys have no spending limit here: false.', example: false }),
  limit: z.number().nullable().meta({ description: 'Keys have no spending limit here: null.' }),
  limit_remaining: z.number().nullable().meta({ description: 'Keys have no spending limit here: null.' }),
  limit_reset: z.string().nullable().meta({ description: 'Keys have no spending limit here: null.' }),
};

/** The values of {@link spending}. */
export const NOT_METERED = {
  usage: 0,
  usage_daily: 0,
  usage_weekly: 0,
  usage_monthly: 0,
  byok_usage: 0,
  byok_usage_daily: 0,
  byok_usage_weekly: 0,
  byok_usage_monthly: 0,
  include_byok_in_limit: false,
  limit: null,
  limit_remaining: null,
  limit_reset: null,
} as const;

const creator = z
  .string()
  .nullable()
  .meta({ description: 'The user it belongs to.', example: SAMPLE.userId });
const expiry = Timestamp.nullable().meta({
  description: 'From when on the key is refused; null: it does not expire.',
  example: null,
});

export const ApiKey = z
  .strictObject({
    hash: ApiKeyHash,
    name,
    label,
    disabled: z.boolean().meta({ description: 'Whether the key is refused.', example: false }),
    workspace_id: WorkspaceId,
    creator_user_id: creator,
    external_user: z.string().nullable().meta({ description: 'Not used here: null.' }),
    ...spending,
    expires_at: expiry,
    last_used_at: Timestamp.nullable().meta({ description: 'Not recorded here: null.', example: null }),
    created_at: Timestamp,
    updated_at: Timestamp.nullable().meta({ description: 'null: never changed.', example: null }),
  })
  .meta({ id: 'ApiKey' });
export type ApiKey = z.infer<typeof ApiKey>;

export const KeyListQuery = z.object({
  ...offsetPage,
  include_disabled: booleanParameter('Whether disabled keys are listed too.'),
  workspace_id: WorkspaceId.optional().meta({ description: "Default: the account's default workspace." }),
});

export const KeyPage = pageOf(ApiKey).meta({ id: 'ApiKeyPage' });

const isNull = (value: unknown) => value === null;

/** A limit that was accepted and not enforced would be taken for one that is. */
const noLimit = {
  limit: spending.limit.refine(isNull, 'keys have no spending limit here; use limit_usd of a guardrail'),
  limit_reset: spending.limit_reset.refine(
    isNull,
    'keys have no spending limit here; use reset_interval of a guardrail',
  ),
  include_byok_in_limit: z
    .literal(false, 'keys have no spending limit here')
    .meta({ description: 'Only false: keys have no spending limit here.' }),
};

const WITH_SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
/** The last instant that a {@link Timestamp} can show. */
const LAST = Date.parse('9999-12-31T23:59:59.999Z');
const INSTANT = 'must be an RFC 3339 time with seconds and an offset, such as 2099-01-01T00:00:00Z';

export const KeyCreate = z
  .strictObject({
    name,
    workspace_id: WorkspaceId.optional().meta({ description: "Default: the account's default workspace." }),
    creator_user_id: UserId.nullable().optional().meta({
      description:
        'The member of the workspace to whom it belongs: it works as long as they are one. Default: the person to whom the management key belongs, if it belongs to one.',
    }),
    expires_at: z.iso
      .datetime({ offset: true, error: INSTANT })
      .refine((text) => WITH_SECONDS.test(text) && Date.parse(text) <= LAST, INSTANT)
      .transform((text) => new Date(text))
      .nullable()
      .optional()
      .meta({ description: 'From when on the key is refused; in the future.' }),
    ...z.object(noLimit).partial().shape,
  })
  .meta({ id: 'ApiKeyCreate', example: { name: 'Support bot' } });

export const KeyCreated = z
  .strictObject({
    data: ApiKey,
    key: z.string().meta({
      description: 'The key itself. It is in no other answer.',
      example: 'sk-ori-v1-…',
    }),
  })
  .meta({ id: 'ApiKeyCreated' });

export const KeyUpdate = z
  .strictObject({
    name,
    disabled: z.boolean().meta({ description: 'Whether the key is refused.', example: true }),
    ...noLimit,
  })
  .partial()
  .meta({ id: 'ApiKeyUpdate', example: { name: 'Support bot', disabled: false } });

export const KeyRecord = dataOf(ApiKey);

/** Of whatever meters and enforces. Newer clients of the family require `budgets` and `effective_budget`. */
const Budget = z.looseObject({});

const CurrentKey = z
  .strictObject({
    label,
    is_management_key: z.boolean().meta({ example: false }),
    is_provisioning_key: z
      .boolean()
      .meta({ deprecated: true, description: 'As `is_management_key`.', example: false }),
    organization_id: z.string().nullable().meta({ example: SAMPLE.organizationId }),
    workspace_id: WorkspaceId.nullable().meta({
      description: 'null: a management key.',
      example: SAMPLE.workspaceId,
    }),
    creator_user_id: creator,
    ...spending,
    budgets: z.array(Budget).meta({ description: 'Nothing is metered here: empty.', example: [] }),
    effective_budget: Budget.nullable().meta({
      description: 'Nothing is metered here: null.',
      example: null,
    }),
    expires_at: expiry,
    allowed_data_regions: z.array(z.enum(['global', 'europe', 'us'])).meta({
      description: 'Intern operations are refused on regional hosts: `global`.',
      example: ['global'],
    }),
    is_free_tier: z.boolean().meta({ description: 'Not used here: false.', example: false }),
    free_model_daily_requests: z
      .strictObject({ limit: z.int(), remaining: z.int(), used: z.int() })
      .meta({ description: 'Not used here: 0.', example: { limit: 0, remaining: 0, used: 0 } }),
    rate_limit: z.strictObject({ interval: z.string(), note: z.string(), requests: z.int() }).meta({
      deprecated: true,
      description: 'Not used here: -1. Turns are limited per user and organization.',
      example: { interval: '60s', note: 'Not used.', requests: -1 },
    }),
  })
  .meta({ id: 'CurrentKey' });
export type CurrentKey = z.infer<typeof CurrentKey>;
export const CurrentKeyRecord = dataOf(CurrentKey);
