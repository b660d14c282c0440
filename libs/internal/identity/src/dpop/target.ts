/** The URL of a request as its client knows it. */
export interface ProofTarget {
  /** The origin of the public address, as `URL.origin` renders it. */
  readonly origin: string;
  /** Raw, as in the request line, without the query. */
  readonly path: string;
}

/**
 * Whether `htu` is the target. Origins are compared after normalization (case, default port), paths byte for byte, as the
 * routes match them. A query or fragment is refused (RFC 9449, sections 4.2 and 4.3).
 */
export function isTarget(htu: string, { origin, path }: ProofTarget): boolean {
  if (htu === origin + path) return true;
  const [, authority, rawPath] = /^(https?:\/\/[^/@\\\s]+)(\/[^?#]*)$/i.exec(htu) ?? [];
  if (authority === undefined || rawPath !== path || !URL.canParse(authority)) return false;
  return new URL(authority).origin === origin;
}
