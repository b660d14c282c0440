import { PROOF_HEADERS, bodySha256 as sha256Hex } from '@ori/proof/wire';
import type { Refusal } from '../refusal.ts';
import type { RequestHead } from '../request.ts';
import type { BodyBuffer } from './body-buffer.ts';

/**
 * A refused request as it arrived, for its sender to compare: the SHA-256, in 64 lower-case hex digits, of each value
 * that verification depends on. It contains none of these values.
 */
export interface Diagnosis {
  readonly method: string;
  /** Of the request-target up to its query. */
  readonly path: string;
  /** Whether there was a query, even an empty one. Its content is not included: a gateway may have added it. */
  readonly query: boolean;
  /** Null if the request was refused before its body was read. */
  readonly body: string | null;
  readonly bodyBytes: number | null;
  /**
   * The received proof headers, Content-Type and Content-Encoding, by lower-case name: one digest for each occurrence,
   * at most four.
   */
  readonly headers: Readonly<Record<string, readonly string[]>>;
}

/** The part of the body received so far; `isWhole` once it ended. */
export interface Received {
  readonly body: BodyBuffer;
  isWhole: boolean;
  /** Begun, and not ended. */
  isReading: boolean;
}

const NAMES: ReadonlySet<string> = new Set([
  ...Object.values(PROOF_HEADERS),
  'content-type',
  'content-encoding',
]);
const REPEATS_MAX = 4;

const encoder = new TextEncoder();
const digestOf = (text: string): string => sha256Hex(encoder.encode(text));

/** Describes a request by digests. It does not verify anything; call it only after a refusal. */
export function diagnosisOf(
  { method = '', target = '', rawHeaders }: RequestHead,
  received: Received,
): Diagnosis {
  const [path = ''] = target.split('?', 1);
  return {
    method: digestOf(method),
    path: digestOf(path),
    query: path.length < target.length,
    ...describeBody(received),
    headers: digestsOf(rawHeaders),
  };
}

/** Adds a diagnosis to the body of a 401. Returns any other refusal unchanged, without computing one. */
export function withDiagnosis(refusal: Refusal, diagnosis: () => Diagnosis): Refusal {
  if (refusal.status !== 401) return refusal;
  const { error } = JSON.parse(refusal.body) as { error: Record<string, unknown> };
  return { ...refusal, body: JSON.stringify({ error: { ...error, diagnosis: diagnosis() } }) };
}

export function requireDiagnoseOption(diagnose: boolean): void {
  if (typeof diagnose !== 'boolean') {
    throw new TypeError('diagnose: expected true or false');
  }
}

function describeBody({ body, isWhole }: Received): Pick<Diagnosis, 'body' | 'bodyBytes'> {
  return isWhole
    ? { body: sha256Hex(body.bytes()), bodyBytes: body.length }
    : { body: null, bodyBytes: null };
}

function digestsOf(rawHeaders: readonly string[]): Record<string, string[]> {
  const digests: Record<string, string[]> = {};
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    if (!NAMES.has(name)) continue;
    digests[name] ??= [];
    if (digests[name].length < REPEATS_MAX) digests[name].push(digestOf(rawHeaders[index + 1] ?? ''));
  }
  return digests;
}
