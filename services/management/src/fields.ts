import { z } from 'zod';

/** The values of the examples in the API description: ids of one account, in the format of this installation. */
export const SAMPLE = {
  at: '2026-11-20T12:00:00.000Z',
  organizationId: 'org_2bXk9QmT4vRz7LdW1nPcYh',
  workspaceId: 'ws_7Gf3KpZ8sVtQ2mNx5RbLcD',
  userId: 'user_5HjT1wXq9ZcM3vBnK8rPsE',
  internId: 'int_4fzZ6TqW2xKd8NbV1mRyLc',
  credentialId: '8f6b0c52-3c1e-4a8f-9d57-2f1f6f6f0a11',
  guardrailId: '2b0f7a0e-90a4-4c4e-8d3c-6a0c4f1c9e55',
} as const;

export const Deleted = z
  .strictObject({ deleted: z.literal(true).meta({ description: 'Always true.' }) })
  .meta({ id: 'Deleted' });

/** A point in time: ISO 8601, UTC, with milliseconds. */
export const Timestamp = z.iso
  .datetime({ precision: 3 })
  .meta({ description: 'ISO 8601 UTC time with milliseconds.', example: SAMPLE.at });

/** A display name. Both ends of its pattern are anchored, because some clients match a pattern from the start only. */
export const displayName = (charactersMax: number) =>
  z
    .string()
    .min(1)
    .max(charactersMax)
    .regex(/^\s*\S[\s\S]*$/, 'must not be blank');

export const WorkspaceId = z
  .string()
  .min(1)
  .max(128)
  .meta({ description: 'Workspace identifier.', example: SAMPLE.workspaceId });

export const UserId = z
  .string()
  .min(1)
  .max(255)
  .meta({ description: 'User identifier.', example: SAMPLE.userId });
