import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import { buffer } from 'node:stream/consumers';

export interface Question {
  readonly method?: string;
  readonly path: string;
  readonly bearer?: string;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: tests read only members that they expect
  json(): any;
}

/** Sends requests over TLS with keep-alive and without retries, trusting only one certificate. */
export interface Client extends Disposable {
  ask(question: Question): Promise<Answer>;
}

/** As a client should: repeats a request that crossed with the close of its idle connection. */
export const askAgain = (client: Client, question: Question): Promise<Answer> =>
  client.ask(question).catch((error: Error) => {
    if (error instanceof ConnectionClosed) return client.ask(question);
    throw error;
  });

/** The server closed a connection that was used before, and did not read the request. */
class ConnectionClosed extends Error {}

export function createClient(url: string, certificate: string): Client {
  const agent = new Agent({ keepAlive: true, ca: certificate });
  const { hostname, port } = new URL(url);
  return {
    ask({ method = 'GET', path, bearer, json, headers = {}, body }) {
      const bytes = json === undefined ? body : JSON.stringify(json);
      const all = {
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        ...(bytes !== undefined && { 'content-length': Buffer.byteLength(bytes) }),
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      };
      return new Promise((resolve, reject) => {
        const sent = request({ agent, hostname, port, method, path, headers: all, timeout: 20_000 });
        sent.once('timeout', () => sent.destroy(new Error('no answer within 20 s')));
        sent.once('error', (error: NodeJS.ErrnoException) =>
          reject(
            error.code === 'ECONNRESET' && sent.reusedSocket
              ? new ConnectionClosed(error.message, { cause: error })
              : error,
          ),
        );
        sent.once('response', (received) => {
          const { statusCode: status = 0, headers: answered } = received;
          buffer(received).then((content) => {
            const readJson = () => JSON.parse(content.toString('utf8'));
            resolve({ status, headers: answered, bytes: content, json: readJson });
          }, reject);
        });
        sent.end(bytes);
      });
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}
