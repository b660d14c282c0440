import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createPublishedFile, type PublishedFile } from '../published-file.ts';
import { DOCUMENT_CACHE_CONTROL, DOCUMENT_PATH } from './description-operation.ts';
import { createApiDocument } from './document.ts';

/**
 * The published Redoc is used unchanged. It fills empty `<style>` elements by script, which the digest of the empty
 * string permits; no other inline style or script runs, and nothing is loaded from other origins, not even the logo
 * that Redoc requests.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'self' 'sha256-${createHash('sha256').update('').digest('base64')}'`,
  "img-src 'self' data:",
  'font-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>ori API reference</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
</head>
<body>
<redoc spec-url="openapi.json" disable-telemetry="true" json-samples-expand-level="4" max-displayed-enum-values="12" sort-required-props-first="true"></redoc>
<noscript><p>The reference is drawn by a script. Without one, read <a href="openapi.json">openapi.json</a>.</p></noscript>
<script type="module" src="docs/redoc.js"></script>
</body>
</html>
`;

/** The files of the reference: the document, the page, and everything that the page loads. */
export function createReferenceFiles(baseUrl: string): PublishedFile[] {
  return [
    createPublishedFile({
      path: DOCUMENT_PATH,
      mediaType: 'application/json',
      content: JSON.stringify(createApiDocument(baseUrl)),
      cacheControl: DOCUMENT_CACHE_CONTROL,
    }),
    createPublishedFile({
      path: '/docs',
      mediaType: 'text/html; charset=utf-8',
      content: PAGE,
      cacheControl: 'public, max-age=60',
      headers: { 'Content-Security-Policy': CONTENT_SECURITY_POLICY },
    }),
    createPublishedFile({
      path: '/docs/redoc.js',
      mediaType: 'text/javascript; charset=utf-8',
      content: readRenderer(),
      cacheControl: 'public, max-age=3600',
    }),
  ];
}

function readRenderer(): string {
  return readFileSync(createRequire(import.meta.url).resolve('redoc/bundles/redoc.standalone.js'), 'utf8');
}
