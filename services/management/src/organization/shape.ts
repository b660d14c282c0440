import { z } from 'zod';
import { UserId } from '../fields.ts';
import { pageOf } from '../page.ts';

export const OrganizationMember = z
  .strictObject({
    id: UserId,
    email: z.string().meta({ description: 'Empty if it is not known.', example: 'ada@example.com' }),
    first_name: z.string().nullable().meta({ description: 'The whole name.', example: 'Ada' }),
    last_name: z.string().nullable().meta({ description: 'Names are not divided here: null.' }),
    role: z
      .enum(['org:admin', 'org:member'])
      .meta({ description: 'There are no roles here: `org:member`.', example: 'org:member' }),
  })
  .meta({ id: 'OrganizationMember' });
export type OrganizationMember = z.infer<typeof OrganizationMember>;

export const OrganizationMemberPage = pageOf(OrganizationMember).meta({ id: 'OrganizationMemberPage' });
