import { isInternId } from '@ori/proof/wire';
import { z } from 'zod';
import { CliError, isCliError } from '../core/errors.ts';
import { allPages } from './api.ts';
import type { Profile } from './profile.ts';

// Loose, so that fields of later servers appear in --json.
const InternShape = z.looseObject({
  // It becomes part of an address, and is kept.
  id: z.string().refine(isInternId),
  name: z.string(),
  status: z.string(),
  hostname: z.string().nullable(),
  model: z.string().nullable(),
  last_failure_message: z.string().nullish(),
});

/** An intern as in the list; only the fields that the CLI reads are declared. */
export type Intern = z.infer<typeof InternShape>;

export interface InternFilter {
  readonly status?: string | undefined;
  readonly workspaceId?: string | undefined;
}

/** Every intern that the session may see, newest first. Throws CliError `interns_not_listed` on 404, and as `allPages`. */
export async function listInterns(
  profile: Profile,
  { status, workspaceId }: InternFilter,
): Promise<Intern[]> {
  const query = new URLSearchParams({ limit: '500' });
  if (status !== undefined) query.set('status', status);
  if (workspaceId !== undefined) query.set('workspace_id', workspaceId);
  const records = await allPages(profile, '/interns', query).catch((error) => {
    const isMissing = isCliError(error, 'refused') && error.facts.status === 404;
    throw isMissing ? new CliError('interns_not_listed', error.facts) : error;
  });
  const interns = z.array(InternShape).safeParse(records);
  if (interns.success) return interns.data;
  const why = 'it is not a list of interns';
  throw new CliError('answer_not_understood', { what: 'the API', address: '/interns', why });
}
