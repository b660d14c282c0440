import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** A request exactly as it is sent. */
export interface Ask {
  readonly method?: string;
  /** The raw request-target. */
  readonly path: string;
  /** Node's raw list, so that a header can be sent twice; `Host` and the length are added unless given. */
  readonly headers?: readonly string[];
  readonly body?: string | Uint8Array;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** From the first byte sent to the last byte received, on a clock that does not step. */
  readonly milliseconds: number;
}

/** Sends requests over reused keep-alive connections. */
export interface HttpClient extends Disposable {
  ask(ask: Ask): Promise<Reply>;
}

/** The timeout. It exceeds every tested limit, so only a missing response reaches it. */
const PATIENCE_MS = 10_000;

export function createHttpClient(url: string, connectionsMax = 32): HttpClient {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: connectionsMax });
  return {
    ask({ method = 'GET', path, headers = [], body }) {
      const names = new Set(headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()));
      const all = [...headers];
      if (!names.has('host')) all.unshift('Host', `${hostname}:${port}`);
      if (body !== undefined && !names.has('content-length') && !names.has('transfer-encoding')) {
        all.push('Content-Length', String(Buffer.byteLength(body)));
      }
      const start = performance.now();
      return new Promise((resolve, reject) => {
        const sent = request({ agent, hostname, port, method, path, headers: all, timeout: PATIENCE_MS });
        sent.once('timeout', () => sent.destroy(new Error(`no answer within ${PATIENCE_MS} ms`)));
        sent.once('error', reject);
        sent.once('response', (received) => {
          buffer(received).then((bytes) => {
            const milliseconds = performance.now() - start;
            const { statusCode: status = 0, headers } = received;
            resolve({ status, headers, text: bytes.toString('utf8'), milliseconds });
          }, reject);
        });
        sent.end(body);
      });
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}
