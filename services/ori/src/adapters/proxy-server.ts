import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { explainSystemError } from '@ori/faces/system-error';
import { CliError } from '../core/errors.ts';
import type { ProxyRules } from '../core/proxy-request.ts';

export interface ProxyExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly rules: ProxyRules;
  /** Aborted when the connection ends before the answer. */
  readonly closed: AbortSignal;
}

export interface ProxyServer extends AsyncDisposable {
  /** With the secret as its path, without a slash at the end. */
  readonly url: string;
  /** 43 characters of base64url, new for each server. */
  readonly secret: string;
}

/**
 * Listens on a port of 127.0.0.1. Every process of the machine can connect, so requests are judged by `rules`.
 * Throws CliError `usage` if the port cannot be used. `serve` must not reject.
 */
export async function startProxyServer(
  { port, origins }: { readonly port: number; readonly origins: readonly string[] },
  serve: (exchange: ProxyExchange) => Promise<void>,
): Promise<ProxyServer> {
  const secret = randomBytes(32).toString('base64url');
  const digest = hash('sha256', secret, 'buffer');
  const isSecret = (text: string) => timingSafeEqual(hash('sha256', text, 'buffer'), digest);
  const rules = { hosts: [] as string[], origins, isSecret };
  // No limit on the time of a request: this person's own programs send them.
  const server = createServer({ maxHeaderSize: 64 * 1024, requestTimeout: 0 }, (request, response) => {
    const gone = new AbortController();
    response.once('close', () => response.writableFinished || gone.abort());
    void serve({ request, response, rules, closed: gone.signal });
  });
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    throw new CliError('usage', {
      detail: `Cannot listen on 127.0.0.1:${port}: ${explainSystemError(error)}.`,
      next: 'Choose another port with --port, or leave it out to get a free one.',
    });
  }
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the server has no port');
  rules.hosts.push(`127.0.0.1:${address.port}`, `localhost:${address.port}`);
  return {
    url: `http://127.0.0.1:${address.port}/${secret}`,
    secret,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
