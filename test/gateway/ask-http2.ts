import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from 'node:http2';
import { text } from 'node:stream/consumers';
import type { Gateway } from '../env/gateway.ts';

export interface Http2Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

export interface Http2Client extends AsyncDisposable {
  ask(headers: OutgoingHttpHeaders, body?: string | Uint8Array): Promise<Http2Reply>;
}

/** One HTTP/2 connection to a gateway, over TLS. */
export function openHttp2({ secureUrl, certificate }: Gateway): Http2Client {
  const session: ClientHttp2Session = connect(secureUrl, { ca: certificate });
  session.on('error', () => {});
  return {
    async ask(headers, body) {
      const stream = session.request(headers, { endStream: body === undefined });
      // A server that has responded may cancel the rest of the upload.
      const answered = new Promise<Omit<Http2Reply, 'body'>>((resolve, reject) => {
        stream.once('response', (given) => resolve({ status: Number(given[':status']), headers: given }));
        stream.once('close', () => reject(new Error('the stream ended without a response')));
        stream.on('error', () => {});
      });
      if (body !== undefined) stream.end(body);
      const head = await answered;
      return { ...head, body: await text(stream).catch(() => '') };
    },
    async [Symbol.asyncDispose]() {
      // A session that the server closed emits no event for the stream.
      if (!session.destroyed) await new Promise<void>((resolve) => session.close(resolve));
    },
  };
}
