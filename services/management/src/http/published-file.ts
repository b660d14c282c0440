import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isMatch } from '@ori/http/if-none-match';

/** A public, static file that is known when the service starts. */
export interface PublishedFile {
  /** Below the base address. */
  readonly path: string;
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

export interface PublishedFileOptions {
  readonly path: string;
  readonly mediaType: string;
  readonly content: string;
  readonly cacheControl: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function createPublishedFile(options: PublishedFileOptions): PublishedFile {
  const { path, mediaType, content, cacheControl, headers } = options;
  const bytes = Buffer.from(content);
  const etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
  return {
    path,
    bytes,
    headers: {
      'Content-Type': mediaType,
      'Cache-Control': cacheControl,
      ETag: etag,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      ...headers,
    },
  };
}

/** Answers GET or HEAD with the file, or with 304 to a client that has it. */
export function sendPublishedFile(req: IncomingMessage, res: ServerResponse, file: PublishedFile): void {
  for (const [name, value] of Object.entries(file.headers)) res.setHeader(name, value);
  if (isMatch(req.headers['if-none-match'], file.headers['ETag'] ?? '')) {
    res.removeHeader('content-type');
    res.writeHead(304).end();
    return;
  }
  res.writeHead(200, { 'Content-Length': file.bytes.length });
  res.end(req.method === 'HEAD' ? undefined : file.bytes);
}
