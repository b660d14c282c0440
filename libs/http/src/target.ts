/** The raw request-target, split but never decoded or normalized. */
export interface Target {
  /** From the first `/` up to the first `?`, byte for byte as sent. */
  readonly path: string;
  /** After the first `?`; absent if there is no `?`. */
  readonly query?: string;
}

/**
 * Splits an origin-form request-target (RFC 9112, section 3.2.1) for strict, case-sensitive routing.
 * Returns `undefined` for absolute-form, authority-form and asterisk-form targets, which are not served.
 */
export function parseTarget(rawTarget: string | undefined): Target | undefined {
  if (rawTarget === undefined || !rawTarget.startsWith('/') || rawTarget.includes('#')) return undefined;
  const mark = rawTarget.indexOf('?');
  if (mark === -1) return { path: rawTarget };
  return { path: rawTarget.slice(0, mark), query: rawTarget.slice(mark + 1) };
}

/** The parameters of a path, still percent-encoded. */
export type PathParameters = Readonly<Record<string, string>>;

/**
 * Compiles a template such as `/v1/interns/{internId}/icon` into a matcher of raw paths: byte for byte and
 * case-sensitive, without decoding or merging slashes; a parameter is any non-empty segment.
 */
export function compilePath(template: string): (path: string) => PathParameters | undefined {
  const names: string[] = [];
  const pattern = template.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{(\w+)\}/g, (_, name: string) => {
    names.push(name);
    return '([^/]+)';
  });
  const expression = new RegExp(`^${pattern}$`);
  return (path) => {
    const match = expression.exec(path);
    if (match === null) return undefined;
    return Object.fromEntries(names.map((name, index) => [name, match[index + 1] ?? '']));
  };
}
