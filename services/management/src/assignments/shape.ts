import { ApiKeyHash } from '@ori/identity/api-key-hash';
import { z } from 'zod';
import { SAMPLE, Timestamp, UserId } from '../fields.ts';
import { offsetPage, pageOf } from '../page.ts';

export const KeyAssignmentQuery = z.object({
  ...offsetPage,
  key_hash: ApiKeyHash.optional().meta({ description: 'Only the assignment of this key.' }),
});
export const MemberAssignmentQuery = z.object({
  ...offsetPage,
  user_id: UserId.optional().meta({ description: 'Only the assignment of this member.' }),
});

const assignment = {
  id: z.uuid().meta({ example: '61c0a8a4-0f43-4f4c-9b7c-2c47f1ad8d0e' }),
  guardrail_id: z.uuid().meta({ example: SAMPLE.guardrailId }),
  assigned_by: z.string().nullable().meta({
    description: 'The user who assigned, when known.',
    example: SAMPLE.userId,
  }),
  created_at: Timestamp,
};

const KeyAssignment = z
  .strictObject({
    ...assignment,
    key_hash: ApiKeyHash,
    key_name: z.string().meta({ example: 'Support bot' }),
    key_label: z.string().meta({ description: 'Masked rendering of the key.', example: 'sk-...7c2e' }),
  })
  .meta({ id: 'KeyAssignment' });

const MemberAssignment = z
  .strictObject({
    ...assignment,
    user_id: UserId,
    organization_id: z.string().meta({ example: SAMPLE.organizationId }),
  })
  .meta({ id: 'MemberAssignment' });

export const KeyAssignmentPage = pageOf(KeyAssignment).meta({ id: 'KeyAssignmentPage' });
export const MemberAssignmentPage = pageOf(MemberAssignment).meta({ id: 'MemberAssignmentPage' });

export const KeySelection = z
  .strictObject({ key_hashes: z.array(ApiKeyHash).min(1).max(1000) })
  .meta({ id: 'KeySelection' });

export const MemberSelection = z
  .strictObject({ member_user_ids: z.array(UserId).min(1).max(1000) })
  .meta({ id: 'MemberSelection' });

export const AssignedCount = z
  .strictObject({ assigned_count: z.int().min(0).meta({ example: 1 }) })
  .meta({ id: 'AssignedCount' });
export const UnassignedCount = z
  .strictObject({ unassigned_count: z.int().min(0).meta({ example: 1 }) })
  .meta({ id: 'UnassignedCount' });
