import { ApiKeyHash } from '@ori/identity/api-key-hash';
import { z } from 'zod';
import { offsetPage, pageOf, Timestamp } from '../http/page.ts';

export const AssignmentListQuery = z.object(offsetPage);
export type AssignmentListQuery = z.infer<typeof AssignmentListQuery>;

const assignment = {
  id: z.uuid(),
  guardrail_id: z.uuid(),
  assigned_by: z.string().nullable().meta({ description: 'The user who assigned, when known.' }),
  created_at: Timestamp,
};

export const KeyAssignment = z
  .strictObject({ ...assignment, key_hash: ApiKeyHash, key_name: z.string(), key_label: z.string() })
  .meta({ id: 'KeyAssignment' });
export type KeyAssignment = z.infer<typeof KeyAssignment>;

export const MemberAssignment = z
  .strictObject({ ...assignment, user_id: z.string(), organization_id: z.string() })
  .meta({ id: 'MemberAssignment' });
export type MemberAssignment = z.infer<typeof MemberAssignment>;

export const KeyAssignmentPage = pageOf(KeyAssignment).meta({ id: 'KeyAssignmentPage' });
export const MemberAssignmentPage = pageOf(MemberAssignment).meta({ id: 'MemberAssignmentPage' });

export const KeySelection = z
  .strictObject({ key_hashes: z.array(ApiKeyHash).min(1).max(1000) })
  .meta({ id: 'KeySelection' });

export const MemberSelection = z
  .strictObject({ member_user_ids: z.array(z.string().min(1).max(255)).min(1).max(1000) })
  .meta({ id: 'MemberSelection' });

export const AssignedCount = z.strictObject({ assigned_count: z.int().min(0) }).meta({ id: 'AssignedCount' });
export const UnassignedCount = z
  .strictObject({ unassigned_count: z.int().min(0) })
  .meta({ id: 'UnassignedCount' });
export const Deleted = z.strictObject({ deleted: z.literal(true) }).meta({ id: 'Deleted' });
