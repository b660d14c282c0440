import { request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** A request as it is sent: `path` is the raw request-target. */
export interface Question {
  readonly path: string;
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  /** Node's raw list, to send a header twice; replaces `headers`. */
  readonly rawHeaders?: readonly string[];
  /** Sent with Content-Length; a list of chunks is sent chunked. */
  readonly body?: string | Uint8Array | readonly (string | Uint8Array)[];
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Whether the server closed the connection after the response. */
  json(): unknown;
  /** `metadata.reason` of the error envelope. */
  reason(): string | undefined;
}

/** One request on its own connection. */
export function request(url: string, question: Question): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const { path, method = 'GET', headers = {}, rawHeaders, body } = question;
  const list = rawHeaders === undefined ? headers : ['Host', `${hostname}:${port}`, ...rawHeaders];
  return new Promise((resolve, reject) => {
    const req = httpRequest({
      hostname,
      port,
      path,
      method,
      headers: list as OutgoingHttpHeaders,
      agent: false,
    });
    req.on('error', reject);
    req.on('response', (res) => {
      buffer(res).then((bytes) => resolve(answerOf(res.statusCode ?? 0, res.headers, bytes)), reject);
    });
    if (Array.isArray(body)) {
      for (const chunk of body) req.write(chunk);
      req.end();
    } else {
      if (body !== undefined && rawHeaders === undefined) {
        req.setHeader('content-length', Buffer.byteLength(body as string | Uint8Array));
      }
      req.end(body);
    }
  });
}

function answerOf(status: number, headers: IncomingHttpHeaders, bytes: Buffer): Answer {
  const text = bytes.toString('utf8');
  const json = () => JSON.parse(text) as unknown;
  return {
    status,
    headers,
    text,
    json,
    reason: () => (json() as { error?: { metadata?: { reason?: string } } }).error?.metadata?.reason,
  };
}
