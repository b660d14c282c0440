import { html, pageHeaders, renderPage } from '@ori/faces/html';
import { createPublishedFile, type PublishedFile } from '../published-file.ts';
import { DOCUMENT_PATH } from './description-operation.ts';
import { type ApiDocument, createApiDocument } from './document.ts';
import { markdown } from './markdown.ts';
import { PAGE_SCRIPT } from './page-script.ts';
import { type ReferenceOperation, renderReferenceOperation } from './render-operation.ts';
import { renderMembers, type Schema, typeOf } from './render-schema.ts';

const SCRIPT_PATH = '/docs.js';

/** The files of the reference: the document, and a page of it with a script for search and copying. */
export function createReferenceFiles(baseUrl: string, tryAt?: string): PublishedFile[] {
  const document = createApiDocument(baseUrl);
  return [
    createPublishedFile(DOCUMENT_PATH, JSON.stringify(document), { 'Content-Type': 'application/json' }),
    createPublishedFile('/docs', renderReference(document, baseUrl, tryAt), {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': pageHeaders({ scripts: true })['content-security-policy'] ?? '',
    }),
    createPublishedFile(SCRIPT_PATH, PAGE_SCRIPT, { 'Content-Type': 'text/javascript; charset=utf-8' }),
  ];
}

/** The whole API on one page, so that a browser's own search finds everything, also without the script. */
function renderReference(
  { info, tags = [], paths = {}, components = {} }: ApiDocument,
  baseUrl: string,
  tryAt: string | undefined,
): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, ReferenceOperation>).map(([method, operation]) => ({
      path,
      method,
      operation,
    })),
  );
  const groups = tags.map(({ name, description = '' }) => {
    const own = operations.filter(({ operation }) => operation.tags[0] === name);
    return { name, id: name.replaceAll(' ', '-'), description, own };
  });
  const parameterAt = (reference: string) =>
    Object(components.parameters)[reference.slice(reference.lastIndexOf('/') + 1)];
  const schemas = Object.entries(components.schemas as Record<string, Schema>);
  return renderPage(
    'API reference',
    html`<div class="reference">
<nav aria-label="Contents">
${groups.map(
  ({ name, id, own }) => html`<details><summary>${name}</summary>
<ul><li><a href="#${id}">Overview</a></li>
${own.map(({ operation }) => html`<li><a href="#${operation.operationId}">${operation.summary}</a></li>\n`)}</ul></details>
`,
)}<p><a href="#schemas">Schemas</a></p>
</nav>
<div>
<h1>${info.title} ${info.version}</h1>
<p>At <code>${baseUrl}</code>, described for programs by <a href="${baseUrl}/openapi.json">openapi.json</a>.</p>
${markdown(info.description ?? '')}
${groups.map(
  ({ name, id, description, own }) => html`<h2 id="${id}">${name}</h2>
${markdown(description)}
${own.map(({ path, method, operation }) => renderReferenceOperation(path, method, operation, { parameterAt, tryAt }))}`,
)}<h2 id="schemas">Schemas</h2>
${schemas.map(
  ([name, schema]) => html`<h3 id="${name}">${name}</h3>
<p>${typeOf(schema)}. ${schema.description}</p>
${renderMembers(schema)}
`,
)}</div>
</div>`,
    { of: 'reference', note: '', script: new URL(baseUrl).pathname + SCRIPT_PATH },
  );
}
