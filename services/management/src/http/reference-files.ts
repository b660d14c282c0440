import { createPublishedFile, type PublishedFile } from './published-file.ts';

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
