import { requestApi, TokenRefused } from '../adapters/api.ts';
import { CliError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';
import { type ApiAnswer, refusalOfApi } from '../core/refusal.ts';
import { withAccessToken } from './access.ts';
import type { Profile } from './profile.ts';

/** A longer list is treated as endless. */
const PAGES_MAX = 200;

/**
 * The records of all pages of a list, which names the next one by a cursor, or counts its records. Throws CliError
 * `answer_not_understood` for anything else, and the errors of `withAccessToken`.
 */
export async function allPages(
  profile: Profile,
  path: string,
  query: URLSearchParams,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown[]> {
  const records: unknown[] = [];
  const first = Number(query.get('offset') ?? new URLSearchParams(path.split('?', 2)[1]).get('offset'));
  const notUnderstood = (why: string) =>
    new CliError('answer_not_understood', { what: 'the API', address: path, why });
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const page = parseJson((await askApi(profile, { method: 'GET', path, query, headers })).body);
    if (typeof page !== 'object' || page === null || !('data' in page) || !Array.isArray(page.data))
      throw notUnderstood('it is not a list');
    for (const record of page.data) records.push(record);
    if ('next_cursor' in page && typeof page.next_cursor === 'string') {
      query.set('starting_after', page.next_cursor);
      continue;
    }
    const next = first + records.length;
    if (!('total_count' in page && Number(page.total_count) > next && page.data.length > 0)) return records;
    query.set('offset', String(next));
  }
  throw notUnderstood('it is endless');
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** Throws CliError `usage` for another address than the API, and the CliError of a refusal. */
export async function askApi(
  profile: Profile,
  { method, path, query, body, headers }: Request,
): Promise<ApiAnswer> {
  return withAccessToken(profile, async (session, credential) => {
    const url = addressBelow(session.base_url, path);
    for (const [name, value] of query) url.searchParams.set(name, value);
    profile.terminal.detail(`${method} ${url.href}`);
    const asked = { method, credential, headers, ...(body !== undefined && { body }) };
    const answer = await requestApi(url.href, asked, profile.interrupted);
    if (answer.status === 401) throw new TokenRefused(answer);
    // A redirect is not followed, and is not the answer either.
    if (answer.status >= 300) throw refusalOfApi(answer);
    return answer;
  });
}

/** The token goes nowhere but to the API. */
function addressBelow(baseUrl: string, path: string): URL {
  const address = path.startsWith(`${baseUrl}/`) ? path : `${baseUrl}/${path.replace(/^\//, '')}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !url.href.startsWith(`${baseUrl}/`)) {
    throw new CliError('usage', {
      detail: `${path} is not a path below ${baseUrl}.`,
      next: 'See: ori api --help',
    });
  }
  return url;
}
