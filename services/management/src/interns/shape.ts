import { INTERN_STATUSES } from '@ori/store/vocabulary';
import { z } from 'zod';
import { SAMPLE, Timestamp, WorkspaceId } from '../fields.ts';
import { integerParameter } from '../page.ts';
import { renderCursor } from './cursor.ts';

const CURSOR = renderCursor({ createdAt: SAMPLE.at, id: SAMPLE.internId });

const InternStatus = z.enum(INTERN_STATUSES).meta({ id: 'InternStatus', example: 'running' });

export const Intern = z
  .strictObject({
    id: z.string().min(1).meta({ example: SAMPLE.internId }),
    name: z.string().meta({ example: 'charles' }),
    description: z.string().nullable().meta({ example: 'Answers questions about the analytical engine.' }),
    hostname: z.string().nullable().meta({
      description: 'Host name of the daemon: <intern_name>.<domain>.',
      example: 'charles.interns.example',
    }),
    model: z.string().nullable().meta({
      description: 'Model slug: <provider>/<model>.',
      example: 'anthropic/claude-sonnet-4.5',
    }),
    status: InternStatus,
    workspace_id: WorkspaceId,
    vault_id: z.string().nullable().meta({ example: 'vlt_9sWd2LxKq7TzM4NbR6YvHj' }),
    attached_vault_id: z.string().nullable(),
    instructions: z.string().nullable(),
    icon_sha256: z.string().nullable().meta({
      description: 'SHA-256 of the current icon, hex; the `v` of the icon operation.',
      example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    }),
    last_failure_message: z.string().nullable(),
    progress: z
      .strictObject({ step_label: z.string(), step_number: z.int().min(1), total_steps: z.int() })
      .nullable()
      .meta({ description: 'The current step of a lifecycle change.', example: null }),
    created_by_you: z.boolean().meta({
      description:
        'Whether the calling credential created the intern: this API key, or the person of this session.',
      example: true,
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Intern' });
export type Intern = z.infer<typeof Intern>;

export const InternListQuery = z.object({
  limit: integerParameter(1, 500, 50, 'Maximum number of interns to return.'),
  status: z
    .string()
    .transform((text) => [...new Set(text.split(','))])
    .pipe(z.array(InternStatus).max(8))
    .optional()
    .meta({
      description: `Lifecycle statuses, separated by commas; repeats count once. Of ${INTERN_STATUSES.map((status) => `\`${status}\``).join(', ')}.`,
      override: { type: 'string', example: 'running,failed' },
    }),
  starting_after: z
    .string()
    .optional()
    .meta({ description: 'The `next_cursor` of the previous page.', example: CURSOR }),
  workspace_id: WorkspaceId.optional().meta({ description: 'Only interns of this workspace.' }),
});

export const InternPage = z
  .strictObject({
    data: z.array(Intern),
    has_more: z.boolean().meta({ example: true }),
    next_cursor: z.string().optional().meta({
      description: 'Opaque; present when has_more is true.',
      example: CURSOR,
    }),
  })
  .meta({ id: 'InternPage' });
