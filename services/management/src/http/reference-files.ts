import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isMatch } from '@ori/http/if-none-match';

export const PUBLISHED_CACHE_CONTROL = 'public, max-age=60';

/** A file with its entity tag, to be fetched again after a minute. */
export function createPublishedFile(
  path: string,
  content: string,
  headers: Readonly<Record<string, string>>,
) {
  const bytes = Buffer.from(content);
  return {
    /** Below the base address. */
    path,
    bytes,
    headers: {
      'Cache-Control': PUBLISHED_CACHE_CONTROL,
      ETag: `"${createHash('sha256').update(bytes).digest('base64url')}"`,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      ...headers,
    },
  };
}

/** A public, static file that is known when the service starts. */
export type PublishedFile = ReturnType<typeof createPublishedFile>;

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

/** Below the base address. */
export const DOCUMENT_PATH = '/openapi.json';

/** The base address that the generated reference names; the files have that of the installation. */
export const SAMPLE_BASE_URL = 'https://api.example/v1';

/** The OpenAPI document, and a page of it with its script and its Content-Security-Policy. */
export interface Reference {
  readonly document: object;
  readonly page: string;
  readonly script: string;
  readonly policy: string;
}

export function createReferenceFiles(
  baseUrl: string,
  { document, page, script, policy }: Reference,
): PublishedFile[] {
  const { href } = new URL(baseUrl);
  // A function, because `$` in a text has a meaning.
  const here = (text: string) => text.replaceAll(SAMPLE_BASE_URL, () => href);
  return [
    createPublishedFile(DOCUMENT_PATH, here(JSON.stringify(document)), {
      'Content-Type': 'application/json',
    }),
    createPublishedFile('/docs', here(page), {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy,
    }),
    createPublishedFile('/docs.js', script, { 'Content-Type': 'text/javascript; charset=utf-8' }),
  ];
}
