import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { serve } from '@ori/test-env/serve';

/** What the key-set server answers. */
export interface KeyAnswer {
  readonly body?: string | Buffer;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Milliseconds before the body. */
  readonly delayMs?: number;
  /** One byte of the body in this many milliseconds. */
  readonly byteEveryMs?: number;
  /** Answered with 304 to who already has it. */
  readonly etag?: string;
}

/** A key set under the control of the suite, at an address of its own. */
export interface KeySource {
  readonly url: string;
  answer: KeyAnswer;
  fetches: number;
}

export interface KeyServer extends AsyncDisposable {
  /** The address of the first set. */
  readonly firstUrl: string;
  open(answer: KeyAnswer): KeySource;
}

/** Serves key sets on loopback. `port` 0 takes a free one. */
export async function startKeyServer(port = 0): Promise<KeyServer> {
  const sources: KeySource[] = [];
  const server = createServer((request, response) => void reply(sources, request, response));
  const served = await serve(server, port);
  const urlOf = (index: number): string => `${served.url}/${index}/jwks.json`;
  return {
    ...served,
    firstUrl: urlOf(0),
    open(answer) {
      const source = { url: urlOf(sources.length), answer, fetches: 0 };
      sources.push(source);
      return source;
    },
  };
}

async function reply(
  sources: readonly KeySource[],
  { url = '', headers: asked }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [, index = '', rest = ''] = url.split('/');
  const source = sources[Number(index)];
  if (source === undefined) return void response.writeHead(404).end();
  source.fetches += 1;
  const { body = '', status = 200, headers = {}, delayMs = 0, byteEveryMs, etag } = source.answer;
  const sent = { 'content-type': 'application/json', 'cache-control': 'public, max-age=60', ...headers };
  if (status >= 300 && status < 400 && rest === 'jwks.json') {
    return void response.writeHead(status, { location: `/${index}/elsewhere` }).end();
  }
  if (etag !== undefined && asked['if-none-match'] === etag) {
    return void response.writeHead(304, { 'cache-control': sent['cache-control'] }).end();
  }
  // A redirect leads to a good set, so that following it shows.
  response.writeHead(status >= 300 && status < 400 ? 200 : status, { ...sent, ...(etag && { etag }) });
  response.flushHeaders();
  if (delayMs > 0) await pause(delayMs, undefined, { ref: false });
  for (const byte of byteEveryMs === undefined ? [] : Buffer.from(body)) {
    if (response.destroyed) return;
    response.write(Buffer.of(byte));
    await pause(byteEveryMs, undefined, { ref: false });
  }
  response.end(byteEveryMs === undefined ? body : '');
}
