import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Listening, listen } from '../adapters/listen.ts';
import type { ProxyRules } from './request.ts';

export interface ProxyExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly rules: ProxyRules;
  /** Aborted when the connection ends before the answer. */
  readonly closed: AbortSignal;
}

export interface ProxyServer extends Listening {
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
  const next = 'Choose another port with --port, or leave it out to get a free one.';
  const listening = await listen(server, { port }, next);
  rules.hosts.push(`127.0.0.1:${listening.port}`, `localhost:${listening.port}`);
  return { ...listening, url: `http://127.0.0.1:${listening.port}/${secret}`, secret };
}
