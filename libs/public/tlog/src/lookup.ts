/** Commitments in one request, at most. */
export const LOOKUP_MAX = 1000;
export const LOOKUP_BYTES_MAX = 128 * 1024;

/** The log's answer about commitments. Do not trust it before the inclusion is verified. */
export interface LookupAnswer {
  /** By commitment, 64 hex digits. A commitment that is in no entry is absent. */
  readonly found: Readonly<Record<string, { readonly index: number; readonly entry: string }>>;
}

export function encodeCommitments(commitments: readonly Uint8Array[]): string {
  return JSON.stringify({ commitments: commitments.map((one) => Buffer.from(one).toString('hex')) });
}

/** The commitments of a request, in hex; undefined for anything else. */
export function decodeCommitments(json: string): string[] | undefined {
  const commitments = parseJson(json)?.commitments;
  const good = Array.isArray(commitments) && commitments.length <= LOOKUP_MAX;
  return good && commitments.every((one) => typeof one === 'string' && /^[0-9a-f]{64}$/.test(one))
    ? commitments
    : undefined;
}

/** @returns undefined for a malformed answer */
export function decodeAnswer(json: string): LookupAnswer | undefined {
  const found = parseJson(json)?.found;
  if (typeof found !== 'object' || found === null) return undefined;
  const good = Object.values(found).every(
    (one) =>
      Number.isSafeInteger(one?.index) &&
      one.index >= 0 &&
      typeof one.entry === 'string' &&
      /^([0-9a-f]{2})+$/.test(one.entry),
  );
  return good ? { found: found as LookupAnswer['found'] } : undefined;
}

function parseJson(
  text: string,
): { readonly commitments?: unknown; readonly found?: unknown } | null | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
