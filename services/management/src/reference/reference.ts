import { join } from 'node:path';
import { html, pageHeaders, renderPage } from '@ori/faces/html';
import { SAMPLE } from '../fields.ts';
import { type Reference, SAMPLE_BASE_URL } from '../http/reference-files.ts';
import { type ApiDocument, createApiDocument } from './document.ts';
import { PAGE_SCRIPT } from './page-script.ts';
import { type ReferenceOperation, renderReferenceOperation } from './render-operation.ts';
import { markdown, renderMembers, type Schema, typeOf } from './render-schema.ts';

/** The file that the service serves, so that it contains nothing of this folder. */
export const GENERATED_FILE = join(import.meta.dirname, '../http/generated/reference.json');

/** What the file has to contain, for the operations as they are now. */
export const renderGenerated = () => `${JSON.stringify(createReference(SAMPLE_BASE_URL))}\n`;

/** What a demo adds: where the links lead that try an operation, and the intern that the examples name. */
export interface Demo {
  readonly tryAt: string;
  readonly internId: string;
}

export function createReference(
  baseUrl: string,
  { tryAt, internId = SAMPLE.internId }: Partial<Demo> = {},
): Reference & { readonly document: ApiDocument } {
  const sample = JSON.stringify(createApiDocument(baseUrl));
  const document: ApiDocument = JSON.parse(sample.replaceAll(SAMPLE.internId, internId));
  return {
    document,
    page: renderReference(document, baseUrl, tryAt),
    script: PAGE_SCRIPT,
    policy: pageHeaders({ scripts: true })['content-security-policy'] ?? '',
  };
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
    { of: 'reference', note: '', script: 'docs.js' },
  );
}
