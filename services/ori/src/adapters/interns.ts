import { z } from 'zod';
import { CliError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';
import { judgeGivenToken, judgeList } from '../core/refusal.ts';
import { type Credential, requestApi, TokenRefused } from './api.ts';

const PAGE_SIZE = 500;
/** A longer list is treated as endless. */
const PAGES_MAX = 200;
const LIST_BYTES_MAX = 32 * 1024 * 1024;

// Loose, so that fields of later servers appear in --json.
const InternShape = z.looseObject({
  id: z.string(),
  name: z.string(),
  status: z.string(),
  hostname: z.string().nullable(),
  model: z.string().nullable(),
  last_failure_message: z.string().nullish(),
});
const PageShape = z.object({
  data: z.array(InternShape),
  has_more: z.boolean(),
  next_cursor: z.string().optional(),
});

/** An intern as in the list; only the fields that the CLI reads are declared. */
export type Intern = z.infer<typeof InternShape>;

export interface InternFilter {
  readonly status?: string | undefined;
  readonly workspaceId?: string | undefined;
}

/**
 * Every intern that the session may see, newest first, page after page. Throws TokenRefused on 401, CliError
 * `interns_not_listed` on 404, otherwise the CliError of the refusal.
 */
export async function listInterns(
  baseUrl: string,
  credential: Credential,
  filter: InternFilter,
  signal: AbortSignal,
): Promise<Intern[]> {
  const interns: Intern[] = [];
  let bytes = 0;
  const query = new URLSearchParams({ limit: String(PAGE_SIZE) });
  if (filter.status !== undefined) query.set('status', filter.status);
  if (filter.workspaceId !== undefined) query.set('workspace_id', filter.workspaceId);
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const answer = await requestApi(`${baseUrl}/interns?${query}`, { method: 'GET', credential }, signal);
    if (answer.status === 401) throw new TokenRefused(answer);
    if (answer.status !== 200) throw judgeList(answer);
    bytes += answer.body.length;
    if (bytes > LIST_BYTES_MAX) throw notUnderstood(baseUrl, 'its list of interns is too long');
    const page = PageShape.safeParse(parseJson(answer.body));
    if (!page.success) throw notUnderstood(baseUrl, 'it is not a list of interns');
    interns.push(...page.data.data);
    if (!page.data.has_more || page.data.next_cursor === undefined) return interns;
    query.set('starting_after', page.data.next_cursor);
  }
  throw notUnderstood(baseUrl, 'its list of interns is endless');
}

/**
 * Checks that the API accepts an access token, with the smallest request that needs one. Throws CliError
 * `token_refused` if it does not.
 */
export async function requireTakenToken(
  baseUrl: string,
  credential: Credential,
  signal: AbortSignal,
): Promise<void> {
  const answer = await requestApi(`${baseUrl}/interns?limit=1`, { method: 'GET', credential }, signal);
  if (answer.status === 401) throw judgeGivenToken(baseUrl, answer);
}

function notUnderstood(address: string, why: string): CliError {
  return new CliError('answer_not_understood', { what: 'the API', address, why });
}
