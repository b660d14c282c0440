import { z } from 'zod';
import { displayName, SAMPLE, Timestamp, UserId, WorkspaceId } from '../fields.ts';
import { booleanParameter, dataOf, pageOf } from '../page.ts';

const name = displayName(255).meta({ description: 'A display name.', example: 'Workshop' });
const slug = z
  .string()
  .max(100)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be words of a-z 0-9, joined by single hyphens')
  .meta({ description: 'A name for addresses, unique in the organization.', example: 'workshop' });
const description = z.string().max(1000).nullable().meta({ example: 'Where the engine is built.' });

const unused = (value: string) => ({ description: `Not used here: ${value}.` });

/** The settings of routing and logging are those of the family. Nothing is routed or logged here. */
export const UNUSED = {
  default_text_model: null,
  default_image_model: null,
  default_provider_sort: null,
  disabled_server_tools: null,
  include_byok_in_budgets: false,
  io_logging_api_key_ids: null,
  io_logging_sampling_rate: 1,
  is_data_discount_logging_enabled: false,
  is_observability_broadcast_enabled: false,
  is_observability_io_logging_enabled: false,
} as const;

export const Workspace = z
  .strictObject({
    id: WorkspaceId,
    name,
    slug,
    description,
    created_by: z
      .string()
      .nullable()
      .meta({ description: 'The user who created it, when known.', example: SAMPLE.userId }),
    default_guardrail_id: z.uuid().meta({
      description: 'Derived from `id`. There are no default guardrails here: no guardrail has this id.',
      example: '6ef54150-9629-8010-af18-32507c39e5f3',
    }),
    default_text_model: z.string().nullable().meta(unused('null')),
    default_image_model: z.string().nullable().meta(unused('null')),
    default_provider_sort: z.string().nullable().meta(unused('null')),
    disabled_server_tools: z.array(z.string()).nullable().meta(unused('null')),
    include_byok_in_budgets: z.boolean().meta({ ...unused('false'), example: false }),
    io_logging_api_key_ids: z.array(z.int()).nullable().meta(unused('null')),
    io_logging_sampling_rate: z.number().meta({ ...unused('1'), example: 1 }),
    is_data_discount_logging_enabled: z.boolean().meta({ ...unused('false'), example: false }),
    is_observability_broadcast_enabled: z.boolean().meta({ ...unused('false'), example: false }),
    is_observability_io_logging_enabled: z.boolean().meta({ ...unused('false'), example: false }),
    created_at: Timestamp,
    updated_at: Timestamp.nullable().meta({ description: 'null: never changed.', example: null }),
  })
  .meta({ id: 'Workspace' });
export type Workspace = z.infer<typeof Workspace>;

export const WorkspacePage = pageOf(Workspace).meta({ id: 'WorkspacePage' });
export const WorkspaceRecord = dataOf(Workspace);

export const WorkspaceCreate = z
  .strictObject({
    name,
    slug: slug.optional().meta({
      description:
        'Default: derived from the name. It carries a digest if the name has other characters than a-z, 0-9, spaces and hyphens, or if another name gave that slug.',
      example: 'workshop',
    }),
    description: description.optional(),
  })
  .meta({
    id: 'WorkspaceCreate',
    example: { name: 'Workshop', slug: 'second-workshop', description: 'Where the engine is built.' },
  });

export const WorkspaceUpdate = z
  .strictObject({ name, slug, description })
  .partial()
  .meta({ id: 'WorkspaceUpdate' });

export const WorkspaceDeletion = z.object({
  confirm_default_workspace_deletion: booleanParameter('Whether the default workspace may be deleted.'),
});

export const WorkspaceMember = z
  .strictObject({
    id: z.string().meta({
      description: 'Identifier of the membership: workspace and user.',
      example: `${SAMPLE.workspaceId}:${SAMPLE.userId}`,
    }),
    workspace_id: WorkspaceId,
    user_id: UserId,
    role: z
      .enum(['admin', 'member'])
      .meta({ description: 'There are no roles here: `member`.', example: 'member' }),
    created_at: Timestamp,
  })
  .meta({ id: 'WorkspaceMember' });
export type WorkspaceMember = z.infer<typeof WorkspaceMember>;

export const WorkspaceMemberPage = pageOf(WorkspaceMember).meta({ id: 'WorkspaceMemberPage' });

export const UserSelection = z
  .strictObject({ user_ids: z.array(UserId).min(1).max(1000) })
  .meta({ id: 'UserSelection' });

export const MembersAdded = z
  .strictObject({ added_count: z.int().min(0).meta({ example: 1 }), data: z.array(WorkspaceMember) })
  .meta({ id: 'MembersAdded' });

export const MembersRemoved = z
  .strictObject({ removed_count: z.int().min(0).meta({ example: 1 }) })
  .meta({ id: 'MembersRemoved' });
