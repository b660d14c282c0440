/**
 * Whether a request was addressed to one of the regional host names.
 *
 * @param authority the `Host` of the request, with or without a port; undefined if none was sent
 * @param regionalHosts in lower case
 */
export function isRegionalHost(authority: string | undefined, regionalHosts: ReadonlySet<string>): boolean {
  if (authority === undefined || regionalHosts.size === 0) return false;
  return regionalHosts.has(authority.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase());
}
