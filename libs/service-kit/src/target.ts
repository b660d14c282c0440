/** The raw request-target, split but never decoded or normalised. */
export interface Target {
  /** From the first `/` up to the first `?`, byte for byte as sent. */
  readonly path: string;
  /** After the first `?`; absent when there is no `?`. */
  readonly query?: string;
}

/**
 * Splits an origin-form request-target (RFC 9112, section 3.2.1) for strict, case-sensitive routing.
 * Absolute-form, authority-form and asterisk-form targets give `undefined`: this service answers none of them.
 */
export function parseTarget(rawTarget: string | undefined): Target | undefined {
  if (rawTarget === undefined || !rawTarget.startsWith('/') || rawTarget.includes('#')) return undefined;
  const mark = rawTarget.indexOf('?');
  if (mark === -1) return { path: rawTarget };
  return { path: rawTarget.slice(0, mark), query: rawTarget.slice(mark + 1) };
}

/**
 * Matches a raw path against a template such as `/v1/interns/{internId}/icon`, segment by segment and byte for
 * byte; a parameter is any non-empty segment, still percent-encoded. Gives the parameters, or `undefined`.
 */
export function matchPath(template: string, path: string): Readonly<Record<string, string>> | undefined {
  const expected = template.split('/');
  const actual = path.split('/');
  if (expected.length !== actual.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, segment] of expected.entries()) {
    const value = actual[index] ?? '';
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name === undefined ? value !== segment : value === '') return undefined;
    if (name !== undefined) parameters[name] = value;
  }
  return parameters;
}
