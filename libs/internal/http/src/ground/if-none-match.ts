/** If-None-Match (RFC 9110, section 13.1.2): weak comparison with each entity tag, or `*`. */
export function isMatch(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}
