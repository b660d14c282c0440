import { requestApi, TokenRefused } from '../adapters/api.ts';
import { CliError } from '../core/errors.ts';
import { parseHeaders } from '../core/extra-headers.ts';
import { parseJson } from '../core/parse-json.ts';
import { type ApiAnswer, judgeAnswer } from '../core/refusal.ts';
import { withAccessToken } from './access.ts';
import type { Context } from './context.ts';
import { headOf } from './daemon-answer.ts';

export interface ApiOptions {
  readonly method?: string;
  /** `name=value`: parameters of the query for GET, otherwise members of the JSON body. */
  readonly field?: readonly string[];
  readonly data?: string;
  readonly paginate?: boolean;
  /** Additional headers, `Name: value`. */
  readonly header?: readonly string[];
  /** Prints status and headers before the body. */
  readonly include?: boolean;
}

/** A longer list is treated as endless. */
const PAGES_MAX = 200;

/**
 * Makes any request to the API with the session, and prints the JSON of its answer; with `paginate` the records of
 * all pages. Throws the CliError of a refusal.
 */
export async function api(context: Context, path: string, options: ApiOptions): Promise<void> {
  const { data, field = [], paginate = false, include = false } = options;
  const headers = parseApiHeaders(options.header ?? []);
  if (include && (paginate || context.json)) throw usage('--include excludes --paginate and --json.');
  const hasBody = data !== undefined || (field.length > 0 && !paginate);
  const method = (options.method ?? (hasBody ? 'POST' : 'GET')).toUpperCase();
  if (!/^[A-Z]{1,16}$/.test(method)) throw usage('--method takes a method, such as PATCH.');
  const isRead = method === 'GET';
  if (paginate && !isRead) throw usage('--paginate is for lists, which GET returns.');
  if (data !== undefined && (isRead || field.length > 0)) {
    throw usage('--data is a body, so it excludes GET and --field.');
  }
  const fields = field.map(parseField);
  const body =
    data ?? (isRead || fields.length === 0 ? undefined : JSON.stringify(Object.fromEntries(fields)));
  const query = new URLSearchParams(
    isRead ? fields.map(([name, value]): [string, string] => [name, String(value)]) : [],
  );
  if (!paginate) {
    const answer = await request(context, { method, path, query, body, headers });
    if (include) context.terminal.print(...headOf(answer), '');
    const value = parseJson(answer.body);
    if (value === undefined) for (const line of answer.body.split('\n')) context.terminal.print(line);
    else context.terminal.printJson(value);
    return;
  }
  context.terminal.printJson(await allPages(context, path, query, headers));
}

/** `-H`, without what the session sets. Throws CliError `usage`. */
function parseApiHeaders(lines: readonly string[]): Record<string, string> {
  const headers = parseHeaders(lines);
  const own = Object.keys(headers).find((name) => /^(?:authorization|dpop|content-type)$/.test(name));
  if (own !== undefined) throw usage(`${own} cannot be set with -H.`);
  return headers;
}

/**
 * The records of all pages of a list, which names the next one by a cursor, or counts its records. Throws CliError
 * `answer_not_understood` for anything else, and the errors of `withAccessToken`.
 */
export async function allPages(
  context: Context,
  path: string,
  query: URLSearchParams,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown[]> {
  const records: unknown[] = [];
  const first = Number(query.get('offset') ?? new URLSearchParams(path.split('?', 2)[1]).get('offset'));
  const notUnderstood = (why: string) =>
    new CliError('answer_not_understood', { what: 'the API', address: path, why });
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const page = parseJson((await request(context, { method: 'GET', path, query, headers })).body);
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

async function request(
  context: Context,
  { method, path, query, body, headers }: Request,
): Promise<ApiAnswer> {
  return withAccessToken(context, async (session, credential) => {
    const url = addressBelow(session.base_url, path);
    for (const [name, value] of query) url.searchParams.set(name, value);
    context.terminal.detail(`${method} ${url.href}`);
    const asked = { method, credential, headers, ...(body !== undefined && { body }) };
    const answer = await requestApi(url.href, asked, context.interrupted);
    if (answer.status === 401) throw new TokenRefused(answer);
    // A redirect is not followed, and is not the answer either.
    if (answer.status >= 300) throw judgeAnswer(answer);
    return answer;
  });
}

/** The token goes nowhere but to the API. */
function addressBelow(baseUrl: string, path: string): URL {
  const address = path.startsWith(`${baseUrl}/`) ? path : `${baseUrl}/${path.replace(/^\//, '')}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !url.href.startsWith(`${baseUrl}/`)) {
    throw usage(`${path} is not a path below ${baseUrl}.`);
  }
  return url;
}

/** `name=value`; a value that is JSON, such as 5, true or null, is that value. */
function parseField(text: string): [string, unknown] {
  const at = text.indexOf('=');
  if (at < 1) throw usage('--field takes name=value.');
  const value = text.slice(at + 1);
  return [text.slice(0, at), parseJson(value) ?? (value === 'null' ? null : value)];
}

const usage = (detail: string) => new CliError('usage', { detail, next: 'See: ori api --help' });
