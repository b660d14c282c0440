import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { request as requestOverTls, Agent as TlsAgent } from 'node:https';
import { buffer } from 'node:stream/consumers';

/** A request exactly as it is sent. */
export interface Ask {
  readonly method?: string;
  /** The raw request-target. */
  readonly path: string;
  /** By name, or Node's raw list, so that one can be sent twice; `Host` and the length are added unless given. */
  readonly headers?: readonly string[] | Readonly<Record<string, string>>;
  readonly bearer?: string;
  /** A list is sent chunked. */
  readonly body?: string | Uint8Array | readonly (string | Uint8Array)[];
  /** In place of `body`. */
  readonly json?: unknown;
  /** Repeats a request that crossed with the close of its idle connection, as a client should. */
  readonly again?: boolean;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** As what a test expects of it; nothing is checked. */
  json<Body>(): Body;
  /** From the first byte sent to the last byte received, on a clock that does not step. */
  readonly milliseconds: number;
}

/** The error of a signer, of management, or of a daemon. */
export interface Refused {
  readonly error: { readonly code: number | string; readonly metadata?: { readonly reason: string } };
}

/** Sends requests over reused keep-alive connections. */
export interface HttpClient extends Disposable {
  ask(ask: Ask): Promise<Reply>;
}

/** The timeout. It exceeds every tested limit, so only a missing response reaches it. */
const PATIENCE_MS = 20_000;

/** @param options.certificate PEM: over TLS, the only one that is trusted */
export function createHttpClient(
  url: string,
  options: { readonly connectionsMax?: number; readonly certificate?: string } = {},
): HttpClient {
  const { hostname, port } = new URL(url);
  const { connectionsMax: maxSockets = 32, certificate: ca } = options;
  const agent =
    ca === undefined
      ? new Agent({ keepAlive: true, maxSockets })
      : new TlsAgent({ keepAlive: true, maxSockets, ca });
  const send = ca === undefined ? request : requestOverTls;
  const ask: HttpClient['ask'] = (question) => {
    const { method = 'GET', path, again = false } = question;
    const [headers, body] = headersAndBody(question, `${hostname}:${port}`);
    const start = performance.now();
    return new Promise((resolve, reject) => {
      const sent = send({ agent, hostname, port, method, path, headers, timeout: PATIENCE_MS });
      sent.once('timeout', () => sent.destroy(new Error(`no answer within ${PATIENCE_MS} ms`)));
      sent.once('error', (error: NodeJS.ErrnoException) => {
        const isCrossed = sent.reusedSocket && error.code === 'ECONNRESET';
        if (again && isCrossed) ask({ ...question, again: false }).then(resolve, reject);
        else reject(error);
      });
      sent.once('response', (received) => {
        buffer(received).then((bytes) => {
          const milliseconds = performance.now() - start;
          const { statusCode: status = 0, headers } = received;
          const text = bytes.toString('utf8');
          resolve({ status, headers, bytes, text, json: () => JSON.parse(text), milliseconds });
        }, reject);
      });
      for (const chunk of isList(body) ? body : []) sent.write(chunk);
      sent.end(isList(body) ? undefined : body);
    });
  };
  return { ask, [Symbol.dispose]: () => agent.destroy() };
}

/** The raw list of headers, and the body. */
function headersAndBody({ headers = [], bearer, json, body }: Ask, host: string) {
  const content = json === undefined ? body : JSON.stringify(json);
  const length = content === undefined || isList(content) ? undefined : Buffer.byteLength(content);
  const given = Array.isArray(headers) ? [...headers] : Object.entries(headers).flat();
  const names = new Set(given.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()));
  const all = names.has('host') ? given : ['Host', host, ...given];
  if (bearer !== undefined) all.push('Authorization', `Bearer ${bearer}`);
  if (json !== undefined) all.push('Content-Type', 'application/json');
  if (length !== undefined && !names.has('content-length') && !names.has('transfer-encoding'))
    all.push('Content-Length', String(length));
  return [all, content] as const;
}

/** What `Array.isArray` does not say of a list that is only read. */
function isList(body: Ask['body']): body is Extract<Ask['body'], readonly unknown[]> {
  return Array.isArray(body);
}
