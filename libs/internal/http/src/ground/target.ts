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
