import type { VerifiedProof } from '@ori/verifier';

/** The headers that identify the caller to the daemon. */
const IDENTITY = 'x-ori-verified-';

/** Headers of one connection (RFC 9110, section 7.6.1), or of the framing of a body, which the guard frames anew. */
const PER_CONNECTION = new Set([
  'connection',
  'content-length',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** They could make a framework see another method, path or proxy than was verified; the guard sets the client's address itself. */
const MISLEADING = new Set([
  'forwarded',
  'proxy',
  'x-forwarded-for',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-method',
  'x-original-uri',
  'x-original-url',
  'x-real-ip',
  'x-request-id',
  'x-rewrite-url',
]);

/** Letters, digits and hyphens, because CGI and its successors map `a-b`, `a_b` and `a.b` to one name. */
const PLAIN_NAME = /^[A-Za-z0-9-]+$/;

/** What `Connection` may name. Anything else would remove a header that was verified. */
const CONNECTION_OPTIONS = new Set(['', 'close', 'http2-settings', 'keep-alive', 'te', 'trailer', 'upgrade']);

/** Whether `Connection` asks to remove a header that is not about the connection. */
export function namesOthers(connection: string | undefined): boolean {
  return (connection ?? '').split(',').some((name) => !CONNECTION_OPTIONS.has(name.trim().toLowerCase()));
}

export interface PassedOn {
  readonly proof: VerifiedProof | undefined;
  /** Absent: the request has no body. */
  readonly bodyBytes: number | undefined;
  readonly client: string | undefined;
  readonly requestId: string;
  /** Whether the other `X-Forwarded-…` come from a gateway. */
  readonly trustGateway: boolean;
}

/** The headers that the daemon gets: the client's, in order and unchanged, without those that could mislead it; then the guard's own. */
export function headersForDaemon(rawHeaders: readonly string[], passed: PassedOn): string[] {
  const { proof, bodyBytes, client, requestId, trustGateway } = passed;
  const headers: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const known = name.toLowerCase();
    if (!PLAIN_NAME.test(name) || PER_CONNECTION.has(known) || MISLEADING.has(known)) continue;
    if (known.startsWith('x-ori-')) continue;
    if (known.startsWith('x-forwarded-') && !trustGateway) continue;
    headers.push(name, rawHeaders[index + 1] ?? '');
  }
  headers.push('x-request-id', requestId);
  if (client !== undefined) headers.push('x-forwarded-for', client);
  if (bodyBytes !== undefined) headers.push('content-length', String(bodyBytes));
  for (const [name, value] of proof === undefined ? [] : identityOf(proof)) headers.push(name, value);
  return headers;
}

/** The identity headers of a verified proof. */
export function identityOf({
  user,
  internId,
  issuedAt,
  nonce,
}: VerifiedProof): [name: string, value: string][] {
  return [
    [`${IDENTITY}user`, user],
    [`${IDENTITY}intern`, internId],
    [`${IDENTITY}issued-at`, String(issuedAt.getTime() / 1000)],
    [`${IDENTITY}nonce`, nonce ?? ''],
  ];
}

/** The daemon's headers for the client: without connection headers, and with the guard's request id. */
export function headersForClient(rawHeaders: readonly (Buffer | string)[]): string[] {
  const all = rawHeaders.map((text) => (typeof text === 'string' ? text : text.toString('latin1')));
  const own = new Set<string>();
  for (let index = 0; index < all.length; index += 2) {
    if (all[index]?.toLowerCase() !== 'connection') continue;
    for (const name of (all[index + 1] ?? '').split(',')) own.add(name.trim().toLowerCase());
  }
  return all.flatMap((name, index) => {
    const known = name.toLowerCase();
    const isKept =
      known === 'content-length' ||
      !(PER_CONNECTION.has(known) || own.has(known) || known === 'x-request-id');
    return index % 2 === 0 && isKept ? [name, all[index + 1] ?? ''] : [];
  });
}
