import { z } from 'zod';
import { integerParameter, Timestamp, WorkspaceId } from '../http/page.ts';

export const INTERN_STATUSES = [
  'awaiting_slack_install',
  'queued',
  'provisioning',
  'running',
  'failed',
  'stopped',
  'destroying',
  'destroy_failed',
] as const;

export const InternStatus = z.enum(INTERN_STATUSES).meta({ id: 'InternStatus' });
export type InternStatus = z.infer<typeof InternStatus>;

export const Intern = z
  .strictObject({
    id: z.string().min(1),
    name: z.string(),
    description: z.string().nullable(),
    hostname: z.string().nullable().meta({ description: 'Host name of the daemon: <intern_name>.<domain>.' }),
    model: z.string().nullable().meta({ description: 'Model slug: <provider>/<model>.' }),
    status: InternStatus,
    workspace_id: WorkspaceId,
    vault_id: z.string().nullable(),
    attached_vault_id: z.string().nullable(),
    instructions: z.string().nullable(),
    icon_sha256: z
      .string()
      .nullable()
      .meta({ description: 'Names the current icon; the `v` of the icon operation.' }),
    last_failure_message: z.string().nullable(),
    progress: z
      .strictObject({ step_label: z.string(), step_number: z.int().min(1), total_steps: z.int() })
      .nullable(),
    created_by_you: z.boolean().meta({ description: 'Whether the calling credential created the intern.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Intern' });
export type Intern = z.infer<typeof Intern>;

export const InternListQuery = z.object({
  limit: integerParameter(1, 500, 50, 'Interns to return at the most.'),
  status: z
    .string()
    .transform((text) => [...new Set(text.split(','))])
    .pipe(z.array(InternStatus).max(8))
    .optional()
    .meta({
      description: `Lifecycle statuses, separated by commas; repeats count once. Of ${INTERN_STATUSES.map((status) => `\`${status}\``).join(', ')}.`,
      override: { type: 'string', example: 'running,failed' },
    }),
  starting_after: z.string().optional().meta({ description: 'The `next_cursor` of the page before.' }),
  workspace_id: WorkspaceId.optional().meta({ description: 'Only interns of this workspace.' }),
});
export type InternListQuery = z.infer<typeof InternListQuery>;

export const InternPage = z
  .strictObject({
    data: z.array(Intern),
    has_more: z.boolean(),
    next_cursor: z.string().optional().meta({ description: 'Opaque; present when has_more is true.' }),
  })
  .meta({ id: 'InternPage' });
export type InternPage = z.infer<typeof InternPage>;
