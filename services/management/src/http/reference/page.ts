import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createPublishedFile, type PublishedFile } from '../published-file.ts';
import { DOCUMENT_CACHE_CONTROL, DOCUMENT_PATH } from './description-operation.ts';
import { createApiDocument } from './document.ts';

/** What Redoc would fetch from its makers for its sidebar: nothing instead. */
const FOREIGN_LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg';
const NO_IMAGE = 'data:,';

/**
 * The two inline styles that are allowed, by their digest: the empty ones, which Redoc fills by script (that is no
 * inline style), and the one of its scrollbars. No other inline style or script runs.
 */
const EMPTY_STYLE = createHash('sha256').update('').digest('base64');
const SCROLLBAR_STYLE = 'QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc=';

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'self' 'sha256-${EMPTY_STYLE}' 'sha256-${SCROLLBAR_STYLE}'`,
  "img-src 'self' data:",
  "connect-src 'self'",
  // The search index is built in a worker, from a script that ours carries.
  'worker-src blob:',
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
<link rel="stylesheet" href="docs/reference.css">
</head>
<body>
<main id="reference"><p>Loading the reference&#8230;</p></main>
<noscript><p>The reference is drawn by a script. Without one, read <a href="openapi.json">openapi.json</a>.</p></noscript>
<script src="docs/redoc.js"></script>
<script src="docs/reference.js"></script>
</body>
</html>
`;

const STYLE = `body { margin: 0; font-family: system-ui, sans-serif; }
#reference > p, noscript > p { padding: 2rem; }
`;

const SCRIPT = `'use strict';
const sans = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
const mono = 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace';
Redoc.init('openapi.json', {
  downloadUrls: [{ title: 'openapi.json', url: 'openapi.json' }],
  expandResponses: '200,201',
  jsonSamplesExpandLevel: 4,
  maxDisplayedEnumValues: 12,
  nativeScrollbars: true,
  sortRequiredPropsFirst: true,
  theme: {
    colors: { primary: { main: '#2f4bd6' } },
    sidebar: { width: '300px' },
    spacing: { sectionVertical: 20 },
    typography: {
      fontFamily: sans,
      fontSize: '15px',
      code: { fontFamily: mono, wrap: true },
      headings: { fontFamily: sans, fontWeight: '600' },
    },
  },
}, document.getElementById('reference'));
`;

/** What the reference is made of: the document, the page, and everything that the page loads. */
export function createReferenceFiles(baseUrl: string): PublishedFile[] {
  const asset = { cacheControl: 'public, max-age=3600' };
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
      path: '/docs/reference.css',
      mediaType: 'text/css; charset=utf-8',
      content: STYLE,
      ...asset,
    }),
    createPublishedFile({
      path: '/docs/reference.js',
      mediaType: 'text/javascript; charset=utf-8',
      content: SCRIPT,
      ...asset,
    }),
    createPublishedFile({
      path: '/docs/redoc.js',
      mediaType: 'text/javascript; charset=utf-8',
      content: readRenderer(),
      ...asset,
    }),
  ];
}

function readRenderer(): string {
  const file = createRequire(import.meta.url).resolve('redoc/bundles/redoc.standalone.js');
  return readFileSync(file, 'utf8').replaceAll(FOREIGN_LOGO, NO_IMAGE);
}
