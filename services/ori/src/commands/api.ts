import { CliError } from '../core/errors.ts';
import { parseHeaders } from '../core/extra-headers.ts';
import { parseJson } from '../core/parse-json.ts';
import { headOf } from '../delivery/daemon-answer.ts';
import { allPages, askApi } from '../session/api.ts';
import type { Profile } from '../session/profile.ts';

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
  /** Prints what this filter makes of the JSON. */
  readonly jq?: string;
}

/**
 * Makes any request to the API with the session, and prints the JSON of its answer; with `paginate` the records of
 * all pages. Throws the CliError of a refusal.
 */
export async function api(profile: Profile, path: string, options: ApiOptions): Promise<void> {
  const { data, field = [], paginate = false, include = false, jq } = options;
  const headers = parseApiHeaders(options.header ?? []);
  if (include && (paginate || profile.json || jq !== undefined))
    throw usage('--include excludes --paginate, --json and --jq.');
  const print = async (value: unknown) => {
    if (jq === undefined) profile.terminal.printJson(value);
    else profile.terminal.print(...(await import('../adapters/jq.ts')).filterBy(jq, value));
  };
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
    const answer = await askApi(profile, { method, path, query, body, headers });
    if (include) profile.terminal.print(...headOf(answer), '');
    const value = parseJson(answer.body);
    if (value === undefined) for (const line of answer.body.split('\n')) profile.terminal.print(line);
    else await print(value);
    return;
  }
  await print(await allPages(profile, path, query, headers));
}

/** `-H`, without what the session sets. Throws CliError `usage`. */
function parseApiHeaders(lines: readonly string[]): Record<string, string> {
  const headers = parseHeaders(lines);
  const own = Object.keys(headers).find((name) => /^(?:authorization|dpop|content-type)$/.test(name));
  if (own !== undefined) throw usage(`${own} cannot be set with -H.`);
  return headers;
}

/** `name=value`; a value that is JSON, such as 5, true or null, is that value. */
function parseField(text: string): [string, unknown] {
  const at = text.indexOf('=');
  if (at < 1) throw usage('--field takes name=value.');
  const value = text.slice(at + 1);
  return [text.slice(0, at), parseJson(value) ?? (value === 'null' ? null : value)];
}

const usage = (detail: string) => new CliError('usage', { detail, next: 'See: ori api --help' });
