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

/**
 * What servers and frameworks believe because only a proxy is expected to send it. By kind, because each product has names of its
 * own; the guard sets the client's address and the request's id itself.
 */
const MISLEADING_KINDS: readonly RegExp[] = [
  // Another method or path than was verified: rewriting proxies, IIS, Envoy, WSGI prefixes, Next, Vercel.
  /^x-(?:http-)?method(?:-override)?$/,
  /^x-(?:original|rewrite|override|script|path|envoy|middleware|invoke|matched|nextjs|now|vercel|waws)-/,
  // A file to send instead of the answer: Rack::Sendfile and its servers.
  /^x-(?:sendfile|send-file|accel|lighttpd|reproxy)(?:-|$)/,
  // Another client, scheme or host, or a proxy for the daemon's own requests (httpoxy). Rails refuses a Client-IP beside X-Forwarded-For.
  /^(?:forwarded|forwarded-for|proxy|proxy-.*|x-proxy-.*|x-host|x-request-id|x-forwarded|x-forwarded-for)$/,
  /(?:^|-|client|socket)ip(?:v[46])?$/,
  /^(?:front-end-https|x-(?:url-)?scheme|x-(?:http-)?host-override)$/,
  // Another person, or a certificate that was verified: authenticating proxies, and RFC 9440.
  /^(?:x-)?(?:remote|auth-request|auth-user|authenticated|authentik|vouch|webauth|oidc|shib|consumer|credential)(?:-|$)/,
  /^(?:x-)?(?:auth-username|ssl|client-cert|client-certificate|client-verify|client-dn|arr-clientcert)(?:-|$)/,
  /^x-(?:goog-authenticated|goog-iap|ms-client|ms-token|amzn-oidc|amzn-mtls|apigateway-api|endpoint-api|pomerium)(?:-|$)/,
  /^x-(?:token|jwt|user|userinfo|username)(?:-|$)/,
  /^(?:cf-access|tailscale)-/,
];

const MISLEADING = new RegExp(MISLEADING_KINDS.map(({ source }) => `(?:${source})`).join('|'));

/** What a trusted gateway sets; it passes on any other `X-Forwarded-…` of the client, such as `X-Forwarded-User`. */
const FROM_GATEWAY = new Set(['x-forwarded-host', 'x-forwarded-proto']);

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
  /** Whether {@link FROM_GATEWAY} come from a gateway. */
  readonly trustGateway: boolean;
}

/** The headers that the daemon gets: the client's, in order and unchanged, without those that could mislead it; then the guard's own. */
export function headersForDaemon(rawHeaders: readonly string[], passed: PassedOn): string[] {
  const { proof, bodyBytes, client, requestId, trustGateway } = passed;
  const headers: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const known = name.toLowerCase();
    if (!PLAIN_NAME.test(name) || PER_CONNECTION.has(known)) continue;
    if (MISLEADING.test(known)) continue;
    if (known.startsWith('x-ori-')) continue;
    if (known.startsWith('x-forwarded-') && !(trustGateway && FROM_GATEWAY.has(known))) continue;
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
export function headersForClient(all: readonly string[]): string[] {
  const own = new Set<string>();
  for (let index = 0; index < all.length; index += 2) {
    if (all[index]?.toLowerCase() !== 'connection') continue;
    for (const name of (all[index + 1] ?? '').split(',')) own.add(name.trim().toLowerCase());
  }
  const headers: string[] = [];
  for (let index = 0; index < all.length; index += 2) {
    const name = all[index] ?? '';
    const known = name.toLowerCase();
    const isDropped = PER_CONNECTION.has(known) || own.has(known) || known === 'x-request-id';
    if (known === 'content-length' || !isDropped) headers.push(name, all[index + 1] ?? '');
  }
  return headers;
}
